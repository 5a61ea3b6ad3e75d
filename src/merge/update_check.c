#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/path.h"
#include "git/blob.h"
#include "git/blocking_files.h"
#include "git/index.h"
#include "git/lfs.h"
#include "merge/git_commands.h"
#include "merge/sparse.h"
#include "merge/update.h"
#include "sys/fd.h"
#include "sys/tree.h"

/* State while the index is read. */
struct look {
	struct update *u;
	const struct stat *when;
	struct strvec above;    /* the parent directories of added paths, sorted */
	struct strvec doubtful; /* files whose stat data does not prove that they are clean */
	struct strvec *way;
	char *dir; /* the last one whose attributes were looked at; NULL: none */
};

static void in_the_way(struct strvec *way, const char *path)
{
	if (!strvec_has(way, path))
		strvec_push(way, path);
}

static bool is_removed(const struct edits *c, const char *path, size_t len)
{
	const struct edit *x = edits_find(c, path, len);

	return x && (x->kind == EDIT_REMOVE || x->kind == EDIT_FORGET);
}

/* Whether a file below the directory will be moved out, so that the directory may become empty and be
 * removed. */
static bool loses_files(const struct edits *c, const char *dir)
{
	size_t n = strlen(dir);

	for (size_t i = 0; i < c->n; i++)
		if (c->v[i].kind == EDIT_REMOVE && !strncmp(c->v[i].path, dir, n) && c->v[i].path[n] == '/')
			return true;
	return false;
}

/* For a directory that must make way for a file: whether anything in it would stay. */
struct dir_content {
	const struct edits *edits;
	const char *above;
	bool stays;
};

static enum tree_next check_content(const struct tree_entry *t, void *arg, struct err *e)
{
	struct dir_content *in = arg;
	auto_str path = xasprintf("%s/%s", in->above, t->path);

	(void)e;
	if (t->closed || !(S_ISDIR(t->st.st_mode) ? loses_files(in->edits, path)
						  : is_removed(in->edits, path, strlen(path))))
		in->stays = true;
	return TREE_ON;
}

static bool will_be_empty(struct update *u, const char *path)
{
	struct dir_content in = { &u->edits, path, false };
	auto_fd dir = open_beneath(u->top, path, O_RDONLY | O_DIRECTORY, 0);
	struct err ignored = ERR_INIT;

	return dir >= 0 && loses_files(&u->edits, path) && !tree_walk(dir, check_content, &in, &ignored) &&
	       !in.stays;
}

/* Whether nothing is at an added path, checked component by component. Sets `kept` to the length of the part
 * that exists as directories. */
static bool is_free(struct update *u, struct edit *x)
{
	for (size_t len = strcspn(x->path, "/");; len += 1 + strcspn(x->path + len + 1, "/")) {
		auto_str part = xstrndup(x->path, len);
		struct stat st;

		if (lstat_beneath(u->top, part, &st) < 0)
			return errno == ENOENT;
		if (!S_ISDIR(st.st_mode))
			return x->path[len] && is_removed(&u->edits, part, len);
		if (!x->path[len])
			return will_be_empty(u, part);
		x->kept = len;
	}
}

static void look_at_file(struct update *u, struct edit *x, struct strvec *way)
{
	struct stat st = { 0 };

	if (x->kind == EDIT_ADD) {
		if (!is_free(u, x))
			in_the_way(way, x->path);
		return;
	}
	if (x->skipped || x->kind == EDIT_LINK)
		return;
	if (lstat_beneath(u->top, x->path, &st) < 0) {
		if (x->kind == EDIT_REMOVE && (errno == ENOENT || errno == ENOTDIR))
			x->kind = EDIT_FORGET;
		else
			in_the_way(way, x->path);
	} else if (S_ISDIR(st.st_mode)) {
		in_the_way(way, x->path);
	}
	x->was = mark_of(&st);
}

/* git's own test, but stricter. If it proves nothing, git compares the content. */
static bool is_clean(const struct look *l, const struct index_entry *ent)
{
	const struct timespec *when = &l->when->st_mtim;
	struct stat st;

	if (lstat_beneath(l->u->top, ent->path, &st) < 0)
		return false;
	/* the file was written at the same time as the index or later: its stat data may be the old one */
	if (st.st_mtim.tv_sec > when->tv_sec ||
		(st.st_mtim.tv_sec == when->tv_sec && st.st_mtim.tv_nsec >= when->tv_nsec))
		return false;
	return ent->mtime_s == (uint32_t)st.st_mtim.tv_sec && ent->mtime_ns == (uint32_t)st.st_mtim.tv_nsec &&
	       ent->ctime_s == (uint32_t)st.st_ctim.tv_sec && ent->ctime_ns == (uint32_t)st.st_ctim.tv_nsec &&
	       ent->ino == (uint32_t)st.st_ino && ent->uid == st.st_uid && ent->gid == st.st_gid &&
	       ent->size == (uint32_t)st.st_size && (ent->mode & S_IFMT) == (st.st_mode & S_IFMT) &&
	       (!S_ISREG(st.st_mode) || !(ent->mode & 0100) == !(st.st_mode & 0100));
}

static bool is_oid(const unsigned char *oid, const char *hex, unsigned len)
{
	static const char digits[] = "0123456789abcdef";

	for (unsigned i = 0; i < len; i++)
		if (hex[2 * i] != digits[oid[i] >> 4] || hex[2 * i + 1] != digits[oid[i] & 15])
			return false;
	return true;
}

static void look_at_entry(struct look *l, struct edit *x, const struct index_entry *ent)
{
	/* the user told git to ignore changes of such a file: nobody knows whether it is clean */
	if (x->kind == EDIT_ADD || ent->stage || ent->assume_valid || (ent->skip_worktree && !x->skipped) ||
		ent->intent_to_add || ent->mode != x->old_mode ||
		!is_oid(ent->oid, x->old_oid, l->u->repo->hash_len)) {
		in_the_way(l->way, ent->path);
		return;
	}
	x->indexed = true;
	if (x->kind != EDIT_FORGET && x->kind != EDIT_LINK && !is_clean(l, ent))
		strvec_push(&l->doubtful, ent->path);
}

static int compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* For an entry that stays: an added file must not have the name of one of its directories, and its name must
 * not be that of an added file's directory. */
static void look_at_other(struct look *l, const char *path)
{
	if (!l->above.n)
		return;
	for (const char *slash = strchr(path, '/'); slash; slash = strchr(slash + 1, '/')) {
		const struct edit *x = edits_find(&l->u->edits, path, (size_t)(slash - path));

		if (x && x->kind == EDIT_ADD)
			in_the_way(l->way, path);
	}
	if (bsearch(&path, l->above.v, l->above.n, sizeof(char *), compare))
		in_the_way(l->way, path);
}

/* git reads the attributes of each path that it compares, and would wait for a FIFO. Paths of one directory follow each
 * other. */
static int look_at_attributes(struct look *l, const char *path, struct err *e)
{
	size_t n = (size_t)(path_base(path) - path);

	if (l->dir && strlen(l->dir) == n && !strncmp(l->dir, path, n))
		return 0;
	free(l->dir);
	l->dir = xstrndup(path, n);
	return blocking_files_refuse_attributes(l->u->top, l->u->place->top, path, e);
}

static int read_index(struct look *l, const struct buf *index, struct err *e)
{
	struct index_reader r;
	struct index_entry ent;
	int got;

	if (index_open(&r, index->data, index->len, l->u->repo->hash_len, e) < 0)
		return -1;
	while ((got = index_next(&r, &ent, e)) > 0) {
		struct edit *x = edits_find(&l->u->edits, ent.path, ent.path_len);

		if (l->u->edits.n > VERB_PATHS_MAX && look_at_attributes(l, ent.path, e) < 0) {
			got = -1;
			break;
		}
		if (x)
			look_at_entry(l, x, &ent);
		else
			look_at_other(l, ent.path);
	}
	index_close(&r);
	return got;
}

/* Lists all parent directories of the added paths, and "" so that the list is not empty if there are such
 * paths. */
static void list_above(const struct edits *c, struct strvec *above)
{
	for (size_t i = 0; i < c->n; i++) {
		const char *path = c->v[i].path;

		if (c->v[i].kind != EDIT_ADD)
			continue;
		strvec_push(above, "");
		for (const char *slash = strchr(path, '/'); slash; slash = strchr(slash + 1, '/'))
			strvec_pushn(above, path, (size_t)(slash - path));
	}
	strvec_sort(above);
}

/* git compares without filters: for it a file of LFS differs from its pointer. */
struct pointed {
	struct update *u;
	const struct strvec *paths;
	struct strvec same; /* files that have the content of their old pointer */
};

static int look_at_pointer(size_t i, const char *data, size_t len, void *arg, struct err *e)
{
	struct pointed *at = arg;
	const char *path = at->paths->v[i];
	const struct edit *x = edits_find(&at->u->edits, path, strlen(path));
	auto_fd fd = open_regular_beneath(at->u->top, path);
	struct lfs_pointer want;
	struct stat st;

	(void)e;
	if (fd >= 0 && x && !fstat(fd, &st) && !(x->old_mode & 0100) == !(st.st_mode & 0100) &&
		lfs_parse(data, len, &want) && lfs_is_content(fd, &want))
		strvec_push(&at->same, path);
	return 0;
}

static void look_at_changed(struct look *l, const struct strvec *changed)
{
	struct pointed at = { l->u, changed, STRVEC_INIT };
	auto_fd store = lfs_open_store(l->u->repo);
	struct git g = repo_git(l->u->repo);
	auto_strvec oids = STRVEC_INIT;
	struct err ignored = ERR_INIT;

	for (size_t i = 0; i < changed->n; i++) {
		const struct edit *x = edits_find(&l->u->edits, changed->v[i], strlen(changed->v[i]));

		strvec_push(&oids, x ? x->old_oid : "-");
	}
	/* if the old content cannot be read, the files count as changed */
	if (store >= 0)
		blob_read(&g, &oids, look_at_pointer, &at, &ignored);
	for (size_t i = 0; i < changed->n; i++)
		if (!strvec_has(&at.same, changed->v[i]))
			in_the_way(l->way, changed->v[i]);
	strvec_release(&at.same);
}

static int look_at_index(struct look *l, const struct buf *index, struct err *e)
{
	struct verb_place p = { l->u->place->admin, l->u->place->top, l->u->index, l->u->repo };
	const struct edits *c = &l->u->edits;
	auto_strvec changed = STRVEC_INIT;

	list_above(c, &l->above);
	for (size_t i = 0; i < c->n; i++)
		if (look_at_attributes(l, c->v[i].path, e) < 0)
			return -1;
	if (read_index(l, index, e) < 0)
		return -1;
	for (size_t i = 0; i < c->n; i++)
		if (c->v[i].old_mode && !c->v[i].indexed)
			in_the_way(l->way, c->v[i].path);
	if (!l->doubtful.n)
		return 0;
	if (verb_changed(&p, &l->doubtful, &changed, e) < 0)
		return -1;
	look_at_changed(l, &changed);
	return 0;
}

int check_paths(
	struct update *u, const struct buf *index, const struct stat *when, struct strvec *way, struct err *e)
{
	struct look l = { .u = u, .when = when, .way = way };
	int rc;

	if (sparse_mark(u, index, e) < 0)
		return -1;
	for (size_t i = 0; i < u->edits.n; i++)
		look_at_file(u, &u->edits.v[i], way);
	rc = look_at_index(&l, index, e);
	strvec_release(&l.above);
	strvec_release(&l.doubtful);
	free(l.dir);
	if (rc < 0)
		return -1;
	if (!way->n)
		return 0;
	strvec_sort(way);
	return err_set(e, ERR_CONFLICT, "%zu file%s in the way", way->n, way->n == 1 ? " is" : "s are");
}
