#include "git/drafts.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "git/run.h"
#include "sys/fd.h"
#include "sys/tree.h"

/* How many names the shared repository is asked for. If there are more objects, all count as drafts. */
#define ASKED_MAX ((size_t)100000)
/* How many bytes of refs and reflogs are read. */
#define TEXT_MAX ((size_t)16 << 20)

static bool is_hex(const char *s, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!isxdigit((unsigned char)s[i]))
			return false;
	return true;
}

struct storage {
	struct buf *names; /* names of loose objects, one per line; NULL if not needed */
	size_t name_len;
	const char *own_pack;
	size_t loose, odd, packs;
};

/* "xx/xxxx…": a loose object's path. */
static bool is_loose(const struct storage *s, const char *path)
{
	static const char digits[] = "0123456789abcdef";

	return strlen(path) == s->name_len + 1 && strspn(path, digits) == 2 && path[2] == '/' &&
	       strspn(path + 3, digits) == s->name_len - 2;
}

static void take_name(struct storage *s, const char *path)
{
	if (!s->names || s->loose > ASKED_MAX)
		return;
	buf_add(s->names, path, 2);
	buf_addstr(s->names, path + 3);
	buf_addch(s->names, '\n');
}

static enum tree_next look_at(const struct tree_entry *t, void *arg, struct err *e)
{
	struct storage *s = arg;
	size_t n = strlen(t->path);

	(void)e;
	if (S_ISDIR(t->st.st_mode)) {
		s->odd += t->closed;
		return TREE_ON;
	}
	if (!strncmp(t->path, "pack/", 5)) {
		s->packs += n > 5 && !strcmp(t->path + n - 5, ".pack") &&
			    (!s->own_pack || strcmp(t->path + 5, s->own_pack));
	} else if (is_loose(s, t->path)) {
		s->loose++;
		take_name(s, t->path);
	} else if (n > 3 && t->path[2] == '/' && is_hex(t->path, 2)) {
		s->odd++;
	}
	return TREE_ON;
}

static bool borrows_as_made(int dir, const struct drafts_start *start)
{
	auto_fd fd = open_regular_beneath(dir, "objects/info/alternates");
	auto_buf now = BUF_INIT(1 << 20);
	struct err ignored = ERR_INIT;

	if (fd < 0)
		return start->own_pack && errno == ENOENT;
	return !start->own_pack && !read_rest(fd, &now, "alternates", &ignored) &&
	       !strcmp(buf_str(&now), start->alternates);
}

/* *ret is the count without the loose objects. */
static int look_through(
	int dir, const struct drafts_start *start, struct storage *s, size_t *ret, struct err *e)
{
	auto_fd objects = open_beneath(dir, "objects", O_RDONLY | O_DIRECTORY, 0);

	/* the agent replaced it with something else, which may be its work */
	if (objects < 0)
		return *ret = 1, 0;
	if (tree_walk(objects, look_at, s, e) < 0)
		return -1;
	*ret = s->odd + s->packs + !borrows_as_made(dir, start);
	return 0;
}

int drafts_count_all(
	int dir, const struct repo *r, const struct drafts_start *start, size_t *ret, struct err *e)
{
	struct storage s = { .name_len = 2 * (size_t)r->hash_len, .own_pack = start->own_pack };

	if (look_through(dir, start, &s, ret, e) < 0)
		return -1;
	*ret += s.loose;
	return 0;
}

/* How many of these objects the shared repository does not have. */
static int count_missing(const struct repo *r, const struct buf *names, size_t *ret, struct err *e)
{
	static const char missing[] = " missing\n";
	auto_strvec args = STRVEC_INIT;
	auto_buf out = BUF_INIT(names->max + ASKED_MAX * sizeof(missing));
	struct git g = repo_git(r);

	*ret = 0;
	strvec_pushl(&args, "cat-file", "--batch-check=%(objectname)", "--buffer", NULL);
	if (git_run(&g, &args, names, &out, e) < 0)
		return -1;
	for (const char *at = buf_str(&out); (at = strstr(at, missing)); at++)
		++*ret;
	return 0;
}

int drafts_count(int dir, const struct repo *r, const struct drafts_start *start, size_t *ret, struct err *e)
{
	auto_buf names = BUF_INIT(ASKED_MAX * (2 * (size_t)r->hash_len + 1));
	struct storage s = {
		.name_len = 2 * (size_t)r->hash_len, .names = &names, .own_pack = start->own_pack
	};
	size_t missing = 0;

	if (look_through(dir, start, &s, ret, e) < 0)
		return -1;
	if (s.loose > ASKED_MAX)
		missing = s.loose;
	else if (s.loose && count_missing(r, &names, &missing, e) < 0)
		return -1;
	*ret += missing;
	return 0;
}

struct names {
	int dir;
	const char *below; /* the directory that is walked, with a slash at its end */
	size_t name_len, read;
	struct buf *out;
	bool too_many;
};

/* Collects every run of hexadecimal digits that is as long as a name. */
static void find_names(struct names *n, const char *text)
{
	static const char digits[] = "0123456789abcdef";

	while (*(text += strcspn(text, digits))) {
		size_t len = strspn(text, digits);

		if (len == n->name_len && strspn(text, "0") < len &&
			(!buf_add(n->out, text, len) || !buf_addch(n->out, '\n')))
			n->too_many = true;
		text += len;
	}
}

static void read_names(struct names *n, const char *path)
{
	auto_fd fd = open_regular_beneath(n->dir, path);
	auto_buf text = BUF_INIT(TEXT_MAX - n->read);
	struct err ignored = ERR_INIT;

	if (fd < 0) {
		n->too_many |= errno != ENOENT;
		return;
	}
	if (read_rest(fd, &text, path, &ignored) < 0)
		n->too_many = true;
	n->read += text.len;
	find_names(n, buf_str(&text));
}

static bool ends_in(const char *path, const char *end)
{
	size_t n = strlen(path), m = strlen(end);

	return n > m && !strcasecmp(path + n - m, end);
}

/* Files of another worktree that the agent made: its HEAD and similar files, their logs, and the autostash.
 * */
static bool names_commits(const char *path)
{
	return strstr(path, "/logs/") || ends_in(path, "HEAD") || ends_in(path, "autostash");
}

static enum tree_next read_entry(const struct tree_entry *t, void *arg, struct err *e)
{
	struct names *n = arg;
	auto_str path = xasprintf("%s%s", n->below, t->path);

	(void)e;
	n->too_many |= t->closed;
	if (S_ISREG(t->st.st_mode) && (strcmp(n->below, "worktrees/") || names_commits(t->path)))
		read_names(n, path);
	return n->too_many ? TREE_STOP : TREE_ON;
}

static int by_name(const void *a, const void *b, void *len)
{
	return memcmp(a, b, *(const size_t *)len);
}

/* All names have the same length. */
static void drop_doubles(struct names *n)
{
	size_t line = n->name_len + 1, kept = 0;

	qsort_r(n->out->data, n->out->len / line, line, by_name, &line);
	for (size_t at = 0; at < n->out->len; at += line)
		if (!kept || memcmp(n->out->data + at, n->out->data + kept - line, line)) {
			memmove(n->out->data + kept, n->out->data + at, line);
			kept += line;
		}
	n->out->len = kept;
}

int drafts_count_named(int dir, const struct repo *r, size_t *ret, struct err *e)
{
	static const char *const below[] = { "refs/", "logs/", "worktrees/" };
	static const char *const files[] = { "HEAD", "packed-refs", "ORIG_HEAD", "MERGE_HEAD",
		"CHERRY_PICK_HEAD", "REVERT_HEAD", "MERGE_AUTOSTASH", "rebase-merge/orig-head",
		"rebase-apply/orig-head", "rebase-merge/autostash", "rebase-apply/autostash" };
	auto_buf out = BUF_INIT(ASKED_MAX * (2 * (size_t)r->hash_len + 1));
	struct names n = { .dir = dir, .name_len = 2 * (size_t)r->hash_len, .out = &out };
	struct err ignored = ERR_INIT;

	for (size_t i = 0; i < ARRAY_SIZE(files); i++)
		read_names(&n, files[i]);
	/* reftable is not read */
	n.too_many |= !faccessat(dir, "reftable", F_OK, AT_SYMLINK_NOFOLLOW);
	for (size_t i = 0; i < ARRAY_SIZE(below) && !n.too_many; i++) {
		auto_fd fd = open_beneath(dir, below[i], O_RDONLY | O_DIRECTORY, 0);

		n.below = below[i];
		/* a file of an unexpected type may be anything */
		if (fd < 0 ? errno != ENOENT : tree_walk(fd, read_entry, &n, &ignored) < 0)
			n.too_many = true;
	}
	*ret = n.too_many;
	if (n.too_many || !out.len)
		return 0;
	drop_doubles(&n);
	return count_missing(r, &out, ret, e);
}
