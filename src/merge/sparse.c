#include "merge/sparse.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/path.h"
#include "git/index.h"
#include "merge/git_commands.h"
#include "sys/fd.h"

bool sparse_is_folded(const struct buf *index)
{
	return memmem(buf_str(index), index->len, "sdir\0\0\0\0", 8) != NULL;
}

void cone_release(struct cone *c)
{
	strvec_release(&c->whole);
	strvec_release(&c->parent);
	*c = (struct cone){ 0 };
}

/* "/a/b/" as "a/b", without the backslashes before special characters; NULL for another form. */
static char *dir_of_pattern(const char *line)
{
	auto_buf out = BUF_INIT(8192);
	size_t n = strlen(line);

	if (n < 3 || line[0] != '/' || line[n - 1] != '/')
		return NULL;
	for (size_t i = 1; i < n - 1; i++) {
		if (line[i] == '\\' && i + 1 < n - 1)
			i++;
		else if (strchr("*?[", line[i]))
			return NULL;
		buf_addch(&out, line[i]);
	}
	return out.overflow ? NULL : buf_steal(&out);
}

/* The patterns after the first two: "/dir/" takes all of a directory; if it is followed by the same with an
 * exclamation mark and an asterisk, only the files directly in it. */
static bool take_pattern(const char *line, struct cone *ret)
{
	size_t n = strlen(line);
	auto_str dir = NULL;

	if (line[0] != '!') {
		dir = dir_of_pattern(line);
		if (dir)
			strvec_push(&ret->whole, dir);
		return dir != NULL;
	}
	if (n < 5 || strcmp(line + n - 2, "*/"))
		return false;
	auto_str whole = xstrndup(line + 1, n - 3);
	dir = dir_of_pattern(whole);
	if (!dir || !ret->whole.n || strcmp(ret->whole.v[ret->whole.n - 1], dir))
		return false;
	strvec_push(&ret->parent, dir);
	free(ret->whole.v[--ret->whole.n]);
	ret->whole.v[ret->whole.n] = NULL;
	return true;
}

bool cone_parse(char *text, struct cone *ret)
{
	struct cone c = { 0 };
	char *save = NULL;
	size_t n = 0;

	for (char *l = strtok_r(text, "\n", &save); l; l = strtok_r(NULL, "\n", &save), n++) {
		bool fits = n == 0 ? !strcmp(l, "/*") : n == 1 ? !strcmp(l, "!/*/") : take_pattern(l, &c);

		if (!fits) {
			cone_release(&c);
			return false;
		}
	}
	if (n < 2) {
		cone_release(&c);
		return false;
	}
	*ret = c;
	return true;
}

bool cone_has(const struct cone *c, const char *path)
{
	auto_str dir = xstrdup(path);
	char *slash = strrchr(dir, '/');

	if (!slash)
		return true;
	*slash = '\0';
	if (strvec_has(&c->parent, dir))
		return true;
	do {
		if (strvec_has(&c->whole, dir))
			return true;
		slash = strrchr(dir, '/');
		if (slash)
			*slash = '\0';
	} while (slash);
	return false;
}

static int compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* What the index has directly in the directories above the added paths. */
struct around {
	struct strvec dirs; /* sorted, each once */
	bool *any, *present;
};

static void list_around(const struct edits *c, struct around *a)
{
	auto_strvec all = STRVEC_INIT;

	for (size_t i = 0; i < c->n; i++) {
		const char *path = c->v[i].path;

		if (c->v[i].kind != EDIT_ADD)
			continue;
		strvec_push(&all, "");
		for (const char *slash = strchr(path, '/'); slash; slash = strchr(slash + 1, '/'))
			strvec_pushn(&all, path, (size_t)(slash - path));
	}
	strvec_sort(&all);
	for (size_t i = 0; i < all.n; i++)
		if (!i || strcmp(all.v[i], all.v[i - 1]))
			strvec_push(&a->dirs, all.v[i]);
	a->any = xcalloc(a->dirs.n + 1, sizeof(*a->any));
	a->present = xcalloc(a->dirs.n + 1, sizeof(*a->present));
}

static void around_release(struct around *a)
{
	strvec_release(&a->dirs);
	free(a->any);
	free(a->present);
}

static void note_around(struct around *a, const struct index_entry *ent)
{
	const char *slash = strrchr(ent->path, '/');
	auto_str dir = xstrndup(ent->path, slash ? (size_t)(slash - ent->path) : 0);
	char *key = dir,
	     **found = a->dirs.n ? bsearch(&key, a->dirs.v, a->dirs.n, sizeof(*a->dirs.v), compare) : NULL;

	if (!found)
		return;
	a->any[found - a->dirs.v] = true;
	a->present[found - a->dirs.v] |= !ent->skip_worktree;
}

/* The nearest directory above the path that has files decides. */
static bool neighbours_have_files(const struct around *a, const char *path)
{
	auto_str dir = xstrdup(path);

	for (char *end = strrchr(dir, '/');; end = strrchr(dir, '/')) {
		char *key = dir, **found;

		*(end ? end : dir) = '\0';
		found = bsearch(&key, a->dirs.v, a->dirs.n, sizeof(*a->dirs.v), compare);
		if (found && a->any[found - a->dirs.v])
			return a->present[found - a->dirs.v];
		if (!end)
			return true;
	}
}

/* If something is there nevertheless, it is the user's: the edit stays, and the check finds it in the way. */
static void skip(struct update *u, struct edit *x)
{
	struct stat st;

	/* a submodule's directory may stay, with or without its files */
	if (x->kind == EDIT_LINK) {
		x->skipped = true;
		return;
	}
	if (!lstat_beneath(u->top, x->path, &st) || (errno != ENOENT && errno != ENOTDIR))
		return;
	x->kind = EDIT_FORGET;
	x->skipped = true;
}

static int mark_entries(struct update *u, const struct buf *index, struct around *a, struct err *e)
{
	struct index_reader r;
	struct index_entry ent;
	int got;

	if (index_open(&r, index->data, index->len, u->repo->hash_len, e) < 0)
		return -1;
	while ((got = index_next(&r, &ent, e)) > 0) {
		struct edit *x = ent.skip_worktree ? edits_find(&u->edits, ent.path, ent.path_len) : NULL;

		if (x && x->kind != EDIT_ADD)
			skip(u, x);
		note_around(a, &ent);
	}
	index_close(&r);
	return got;
}

int sparse_mark(struct update *u, const struct buf *index, struct err *e)
{
	__attribute__((cleanup(around_release))) struct around a = { 0 };
	__attribute__((cleanup(cone_release))) struct cone cone = { 0 };
	auto_buf patterns = BUF_INIT(16 << 20);
	bool is_sparse, is_cone;

	list_around(&u->edits, &a);
	if (mark_entries(u, index, &a, e) < 0)
		return -1;
	if (!a.dirs.n)
		return 0;
	if (read_file(u->admin, "info/sparse-checkout", &patterns, e) < 0) {
		if (e->kind != ERR_NOTFOUND)
			return -1;
		*e = (struct err)ERR_INIT;
		return 0;
	}
	if (verb_is_sparse(u->place->admin, &is_sparse, e) < 0)
		return -1;
	is_cone = is_sparse && patterns.len && cone_parse(patterns.data, &cone);
	for (size_t i = 0; is_sparse && i < u->edits.n; i++) {
		struct edit *x = &u->edits.v[i];

		if (x->kind == EDIT_ADD &&
			!(is_cone ? cone_has(&cone, x->path) : neighbours_have_files(&a, x->path)))
			skip(u, x);
	}
	return 0;
}
