#include "merge/touched.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/strvec.h"
#include "git/neutral.h"

#define ANSWER_MAX (64u << 20)
/* The store keeps no longer lists; a range with more counts as not known. */
#define PATHS_MAX 2000
#define AT_ONCE   64

/* FNV-1a */
static uint64_t hash(const char *text, size_t len)
{
	uint64_t h = 0xcbf29ce484222325u;

	for (size_t i = 0; i < len; i++)
		h = (h ^ (unsigned char)text[i]) * 0x100000001b3u;
	return h;
}

static int by_number(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* Sorts, removes duplicates, and sets the bits. */
static size_t arrange(uint64_t *v, size_t n, uint64_t *bits)
{
	size_t kept = 0;

	if (n)
		qsort(v, n, sizeof(*v), by_number);
	for (size_t i = 0; i < n; i++) {
		if (kept && v[kept - 1] == v[i])
			continue;
		v[kept++] = v[i];
		bits[v[i] % TOUCHED_BITS / 64] |= (uint64_t)1 << (v[i] % 64);
	}
	return kept;
}

static void arrange_both(struct touched *t)
{
	t->npaths = arrange(t->paths, t->npaths, t->path_bits);
	t->ndirs = arrange(t->dirs, t->ndirs, t->dir_bits);
	t->known = true;
}

static void push(uint64_t **v, size_t *n, uint64_t value)
{
	/* a power of two: the array is full */
	if (!(*n & (*n - 1)))
		*v = xrealloc(*v, *n ? *n * 2 : 1, sizeof(**v));
	(*v)[(*n)++] = value;
}

static void add_path(struct touched *t, char status, const char *path)
{
	t->adds |= status == 'A';
	t->removes |= status == 'D';
	push(&t->paths, &t->npaths, hash(path, strlen(path)));
	for (const char *p = path; (p = strchr(p, '/')); p++)
		push(&t->dirs, &t->ndirs, hash(path, (size_t)(p - path)));
}

/* "AD 1f 2e / 3c": adds, removes, paths, directories. */
static char *to_text(const struct touched *t)
{
	auto_buf out = BUF_INIT(16 << 20);

	buf_printf(&out, "%c%c", t->adds ? 'A' : '-', t->removes ? 'D' : '-');
	for (size_t i = 0; i < t->npaths; i++)
		buf_printf(&out, " %" PRIx64, t->paths[i]);
	buf_addstr(&out, " /");
	for (size_t i = 0; i < t->ndirs; i++)
		buf_printf(&out, " %" PRIx64, t->dirs[i]);
	return buf_steal(&out);
}

static void from_text(struct touched *t, const char *text)
{
	bool dirs = false;
	char *end;

	if (strlen(text) < 2)
		return;
	t->adds = text[0] == 'A';
	t->removes = text[1] == 'D';
	for (text += 2; *text == ' '; text = end) {
		uint64_t value;

		if (text[1] == '/') {
			dirs = true;
			end = (char *)text + 2;
			continue;
		}
		value = strtoumax(text + 1, &end, 16);
		if (end == text + 1)
			break;
		if (dirs)
			push(&t->dirs, &t->ndirs, value);
		else
			push(&t->paths, &t->npaths, value);
	}
	arrange_both(t);
}

/* Git writes a commit's id, then "STATUS\0PATH\0" for each path. Ranges without changes are left out. */
static void take_answer(
	const struct buf *out, const struct touched_range *v, struct touched *const *t, size_t n)
{
	size_t at = 0, hash_len = n ? strlen(v[0].to) : 0;
	const char *p = buf_str(out), *end = p + out->len;

	while (p < end) {
		size_t len = strlen(p);
		const char *path = p + len + 1;

		if (len == hash_len) {
			while (at < n && strcmp(v[at++].to, p) != 0)
				;
			p = path;
			continue;
		}
		if (!at || path >= end)
			return;
		add_path(t[at - 1], *p, path);
		p = path + strlen(path) + 1;
	}
}

static bool ask(const struct git *from, const struct touched_range *v, struct touched *const *t, size_t n,
	const struct deadline *by)
{
	auto_buf in = BUF_INIT(ANSWER_MAX), out = BUF_INIT(ANSWER_MAX);
	auto_strvec args = STRVEC_INIT;
	struct err ignored = ERR_INIT;
	struct git g = *from;

	g.seconds = (unsigned)deadline_left(by) / 1000 + 1;
	for (size_t i = 0; i < n; i++)
		buf_printf(&in, "%s %s\n", v[i].to, v[i].from);
	strvec_pushl(&args, "diff-tree", "--stdin", "-r", "-z", "--no-renames", "--name-status",
		"--no-ext-diff", "--no-textconv", "--ignore-submodules=none", NULL);
	if (!deadline_left(by) || git_run(&g, &args, &in, &out, &ignored) < 0 || out.overflow)
		return false;
	take_answer(&out, v, t, n);
	return true;
}

/* Asks git about the ranges at these places, a few at once, and keeps the answers. */
static void ask_all(struct context *c, const struct git *g, const struct touched_range *v,
	struct touched *ret, const size_t *at, size_t n, const struct deadline *by)
{
	for (size_t from = 0; from < n; from += AT_ONCE) {
		struct touched_range some[AT_ONCE];
		struct compared_pair kept[AT_ONCE];
		struct touched *t[AT_ONCE];
		struct err ignored = ERR_INIT;
		size_t m = n - from < AT_ONCE ? n - from : AT_ONCE;

		for (size_t i = 0; i < m; i++) {
			some[i] = v[at[from + i]];
			t[i] = &ret[at[from + i]];
		}
		if (!ask(g, some, t, m, by))
			return;
		for (size_t i = 0; i < m; i++) {
			arrange_both(t[i]);
			t[i]->known = t[i]->npaths <= PATHS_MAX;
			kept[i] = (struct compared_pair){ some[i].from, some[i].to,
				t[i]->known ? to_text(t[i]) : xstrdup("") };
		}
		store_set_compared_many(c->store, "touched", kept, m, &ignored);
		for (size_t i = 0; i < m; i++)
			free(kept[i].result);
	}
}

struct touched *touched_find(struct context *c, const struct repo *r, const struct touched_range *v, size_t n,
	const struct deadline *by)
{
	struct touched *ret = xcalloc(n + 1, sizeof(*ret));
	struct compared_pair *pairs = xcalloc(n + 1, sizeof(*pairs));
	size_t *missing = xcalloc(n + 1, sizeof(*missing)), nmissing = 0;
	auto_neutral p = NEUTRAL_INIT;
	struct err ignored = ERR_INIT;

	for (size_t i = 0; i < n; i++)
		pairs[i] = (struct compared_pair){ .a = v[i].from ? v[i].from : "",
			.b = v[i].to ? v[i].to : "" };
	store_compared_many(c->store, "touched", pairs, n, &ignored);
	for (size_t i = 0; i < n; i++) {
		if (pairs[i].result)
			from_text(&ret[i], pairs[i].result);
		else if (v[i].from && v[i].to)
			missing[nmissing++] = i;
		free(pairs[i].result);
	}
	if (nmissing && !neutral_open(r, r->git_dir, &p, &ignored))
		ask_all(c, &p.git, v, ret, missing, nmissing, by);
	free(pairs);
	free(missing);
	return ret;
}

static bool share_bits(const uint64_t *a, const uint64_t *b)
{
	for (size_t i = 0; i < TOUCHED_BITS / 64; i++)
		if (a[i] & b[i])
			return true;
	return false;
}

static bool share(const uint64_t *a, size_t na, const uint64_t *b, size_t nb)
{
	for (size_t i = 0, k = 0; i < na && k < nb;) {
		if (a[i] == b[k])
			return true;
		if (a[i] < b[k])
			i++;
		else
			k++;
	}
	return false;
}

bool touched_may_conflict(const struct touched *a, const struct touched *b)
{
	if (!a->known || !b->known)
		return true;
	if ((a->adds && a->removes && b->adds) || (b->adds && b->removes && a->adds))
		return true;
	return (share_bits(a->path_bits, b->path_bits) && share(a->paths, a->npaths, b->paths, b->npaths)) ||
	       (share_bits(a->path_bits, b->dir_bits) && share(a->paths, a->npaths, b->dirs, b->ndirs)) ||
	       (share_bits(a->dir_bits, b->path_bits) && share(a->dirs, a->ndirs, b->paths, b->npaths));
}

void touched_release(struct touched *v, size_t n)
{
	for (size_t i = 0; v && i < n; i++) {
		free(v[i].paths);
		free(v[i].dirs);
	}
	free(v);
}
