#include "plan/scope.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "plan/finish.h"
#include "plan/overlap.h"

/* Appends the parts of a path to out, which has a slash before each. */
static bool add_parts(struct buf *out, const char *path)
{
	while (*path) {
		size_t n = strcspn(path, "/");

		if (n == 2 && !strncmp(path, "..", 2)) {
			const char *last = out->len ? strrchr(out->data, '/') : NULL;

			/* it is not known what ".." after a wildcard leads to */
			if (!last || strpbrk(last, "*?[\\"))
				return false;
			buf_cut(out, (size_t)(last - out->data));
		} else if (n && !(n == 1 && *path == '.')) {
			buf_addch(out, '/');
			buf_add(out, path, n);
		}
		path += n;
		path += *path == '/';
	}
	return true;
}

char *scope_read(const char *dir, const char *text)
{
	auto_buf out = BUF_SMALL;

	if (*text != '/' && !add_parts(&out, dir))
		return NULL;
	if (!add_parts(&out, text))
		return NULL;
	return out.len ? buf_steal(&out) : xstrdup("/**");
}

/* One pattern and its two readings; `dir` is the length of the working directory in the first. */
struct reading {
	struct plan_pattern *pattern;
	char *from_dir, *from_root;
};

/* Adds the leading directories of a reading that have no wildcard, and the whole path if it has none. */
static void add_prefixes(const char *reading, struct strvec *paths)
{
	size_t wild = strcspn(reading, "*?[\\"), all = strlen(reading);

	for (size_t i = 1; i < all; i++)
		if (reading[i] == '/' && i < wild)
			strvec_pushn(paths, reading + 1, i - 1);
	if (wild == all)
		strvec_push(paths, reading + 1);
}

static int compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Sorts, and removes duplicates. */
static void make_unique(struct strvec *v)
{
	size_t n = 0;

	strvec_sort(v);
	for (size_t i = 0; i < v->n; i++) {
		if (n && !strcmp(v->v[n - 1], v->v[i])) {
			free(v->v[i]);
			continue;
		}
		v->v[n++] = v->v[i];
	}
	if (v->n)
		v->v[n] = NULL;
	v->n = n;
}

static bool exists(const struct strvec *paths, const bool *have, const char *path)
{
	char **found = bsearch(&path, paths->v, paths->n, sizeof(*paths->v), compare);

	return found && have[found - paths->v];
}

/* How many of the nested directories after `skip` bytes exist. */
static size_t depth(const char *reading, size_t skip, const struct strvec *paths, const bool *have)
{
	auto_strvec prefixes = STRVEC_INIT;
	size_t n = 0;

	add_prefixes(reading, &prefixes);
	for (size_t i = 0; i < prefixes.n; i++) {
		if (!exists(paths, have, prefixes.v[i]))
			break;
		n += strlen(prefixes.v[i]) > skip;
	}
	return n;
}

static void decide(struct plan_pattern *p, enum plan_base base, const char *glob, const char *also)
{
	p->base = base;
	free(p->glob);
	free(p->also);
	p->glob = xstrdup(glob);
	p->also = also ? xstrdup(also) : NULL;
}

static void choose(const struct reading *r, const char *dir, const struct strvec *paths, const bool *have)
{
	size_t in_dir, in_root;

	if (!r->from_root || !strcmp(r->from_dir, r->from_root)) {
		decide(r->pattern, r->from_root ? PLAN_BASE_ROOT : PLAN_BASE_DIR, r->from_dir, NULL);
		return;
	}
	in_dir = have ? depth(r->from_dir, strlen(dir), paths, have) : 0;
	in_root = have ? depth(r->from_root, 0, paths, have) : 0;
	if (in_dir > in_root)
		decide(r->pattern, PLAN_BASE_DIR, r->from_dir, NULL);
	else if (in_root > in_dir)
		decide(r->pattern, PLAN_BASE_ROOT, r->from_root, NULL);
	else
		decide(r->pattern, PLAN_BASE_BOTH, r->from_dir, r->from_root);
}

/* Every pattern of a plan, with its stage. */
struct readings {
	struct reading *v;
	const struct plan_stage **stages;
	size_t n;
};

static int add_readings(const struct plan *p, const struct plan_stage *s, const struct plan_patterns *from,
	struct readings *to, struct err *e)
{
	to->v = xrealloc(to->v, to->n + from->n + 1, sizeof(*to->v));
	to->stages = xrealloc(to->stages, to->n + from->n + 1, sizeof(*to->stages));
	for (size_t i = 0; i < from->n; i++) {
		struct plan_pattern *pattern = &from->v[i];
		char *from_dir = scope_read(s->working_dir, pattern->text);

		if (!from_dir)
			return plan_error(
				p, pattern->at, e, "'%s' leads out of the repository", pattern->text);
		to->stages[to->n] = s;
		to->v[to->n++] = (struct reading){ pattern, from_dir, scope_read(".", pattern->text) };
	}
	return 0;
}

static void readings_release(struct readings *r)
{
	for (size_t i = 0; i < r->n; i++) {
		free(r->v[i].from_dir);
		free(r->v[i].from_root);
	}
	free(r->v);
	free(r->stages);
}
#define auto_readings __attribute__((cleanup(readings_release))) struct readings

int scope_decide(struct plan *p, const struct plan_host *host, struct err *e)
{
	auto_readings all = { 0 };
	auto_strvec paths = STRVEC_INIT;
	bool *have = NULL;
	int rc = 0;

	for (size_t i = 0; i < p->nstages; i++)
		if (add_readings(p, &p->stages[i], &p->stages[i].files, &all, e) < 0 ||
			add_readings(p, &p->stages[i], &p->stages[i].protect, &all, e) < 0)
			return -1;
	for (size_t i = 0; i < all.n; i++) {
		if (!all.v[i].from_root || !strcmp(all.v[i].from_dir, all.v[i].from_root))
			continue;
		add_prefixes(all.v[i].from_dir, &paths);
		add_prefixes(all.v[i].from_root, &paths);
	}
	make_unique(&paths);
	if (host->have_paths && paths.n) {
		have = xcalloc(paths.n, sizeof(*have));
		rc = host->have_paths(host->ctx, &paths, have, e);
	}
	for (size_t i = 0; i < all.n && !rc; i++)
		choose(&all.v[i], all.stages[i]->working_dir, &paths, have);
	free(have);
	return rc;
}

bool scope_may_meet(const struct plan_patterns *p, const char *glob)
{
	for (size_t i = 0; i < p->n; i++)
		if (globs_may_meet(p->v[i].glob, glob) ||
			(p->v[i].also && globs_may_meet(p->v[i].also, glob)))
			return true;
	return false;
}

static bool share_files(const struct plan_stage *a, const struct plan_stage *b)
{
	for (size_t i = 0; i < a->files.n; i++)
		if (scope_may_meet(&b->files, a->files.v[i].glob) ||
			(a->files.v[i].also && scope_may_meet(&b->files, a->files.v[i].also)))
			return true;
	return false;
}

void scope_find_overlaps(struct plan *p)
{
	for (size_t i = 0; i < p->nstages; i++) {
		struct plan_stage *s = &p->stages[i];

		s->noverlaps = 0;
		for (size_t j = 0; j < i; j++) {
			if (plan_is_after(p, i, j) || plan_is_after(p, j, i) ||
				!share_files(s, &p->stages[j]))
				continue;
			s->overlaps = xrealloc(s->overlaps, s->noverlaps + 1, sizeof(*s->overlaps));
			s->overlaps[s->noverlaps++] = j;
		}
	}
}
