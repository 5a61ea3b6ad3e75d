#include "doctor/compare_base.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/path.h"
#include "git/checkout.h"
#include "git/gitlinks.h"
#include "git/index.h"
#include "git/lfs.h"
#include "git/neutral.h"
#include "sys/digest.h"
#include "sys/fd.h"
#include "sys/tree.h"

#define FILE_MAX_SIZE ((size_t)1 << 30)
#define DIFF_MAX      ((size_t)64 << 20)

struct entry {
	size_t name; /* offset into names */
	unsigned mode;
	unsigned char oid[DIGEST_MAX];
	bool seen;
};

/* The files that the tree should have, sorted as git sorts them. */
struct wanted {
	const struct repo *repo;
	struct buf names;
	struct entry *v;
	size_t n, cap;
	struct buf *what;
	size_t others;
	struct strvec doubtful; /* files with other bytes than their blobs: git may have converted them */
};

static void want(struct wanted *w, const char *path, unsigned mode, const unsigned char *oid)
{
	/* a submodule is an empty directory */
	if ((mode & S_IFMT) == GITLINK_MODE)
		return;
	if (w->n == w->cap) {
		w->cap = w->cap ? w->cap * 2 : 1024;
		w->v = xrealloc(w->v, w->cap, sizeof(*w->v));
	}
	w->v[w->n] = (struct entry){ .name = w->names.len, .mode = mode };
	memcpy(w->v[w->n++].oid, oid, w->repo->hash_len);
	buf_add(&w->names, path, strlen(path) + 1);
}

static const char *name_of(const struct wanted *w, const struct entry *n)
{
	return w->names.data + n->name;
}

static struct entry *find(struct wanted *w, const char *path)
{
	size_t lo = 0, hi = w->n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		int order = strcmp(name_of(w, &w->v[mid]), path);

		if (!order)
			return &w->v[mid];
		if (order < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	return NULL;
}

static int want_index(struct wanted *w, const char *index, struct err *e)
{
	auto_buf data = BUF_INIT(FILE_MAX_SIZE);
	struct index_reader r;
	struct index_entry ent;
	int got;

	if (read_file(AT_FDCWD, index, &data, e) < 0 ||
		index_open(&r, data.data, data.len, w->repo->hash_len, e) < 0)
		return -1;
	while ((got = index_next(&r, &ent, e)) > 0)
		want(w, ent.path, ent.mode, ent.oid);
	index_close(&r);
	return got;
}

/* The first difference is named, the others are counted. */
static void differs(struct wanted *w, const char *path, const char *how)
{
	if (w->what->len)
		w->others++;
	else
		buf_printf(w->what, "'%s' %s", path, how);
}

/* Whether a whiteout, or a file in place of a directory, hides the parent's file at the path. */
static bool is_hidden(int tree, const char *path)
{
	auto_str at = xstrdup(path);
	struct stat st;

	for (;;) {
		char *slash;

		if (!lstat_beneath(tree, at, &st))
			return !S_ISDIR(st.st_mode);
		slash = strrchr(at, '/');
		if (!slash)
			return false;
		*slash = '\0';
	}
}

/* A delta has what differs from its parent. */
static int want_delta(struct wanted *w, const struct base *b, int tree, struct err *e)
{
	auto_buf raw = BUF_INIT(DIFF_MAX);
	struct diff_entry d;
	size_t at = 0;
	int got;

	if (checkout_diff(w->repo, b->monitor_id, b->name, DIFF_MAX, &raw, e) < 0)
		return -1;
	while ((got = diff_next(&raw, &at, w->repo->hash_len, &d)) > 0) {
		unsigned char oid[OID_RAW_MAX];
		char hex[OID_SIZE] = "";

		if (!d.new_mode) {
			if ((d.old_mode & S_IFMT) != GITLINK_MODE && !is_hidden(tree, d.path))
				differs(w, d.path, "is there again");
			continue;
		}
		oid_take(d.new_oid, w->repo->hash_len, hex);
		oid_from_hex(hex, w->repo->hash_len, oid);
		want(w, d.path, d.new_mode, oid);
	}
	return got < 0 ? err_set(e, ERR_FAILED, "cannot understand the difference of two commits") : 0;
}

static bool has_id(const struct wanted *w, const struct buf *content, const struct entry *n)
{
	auto_buf blob = BUF_INIT(FILE_MAX_SIZE + 64);
	unsigned char sum[DIGEST_MAX];

	buf_printf(&blob, "blob %zu", content->len);
	buf_addch(&blob, '\0');
	buf_add(&blob, buf_str(content), content->len);
	digest_of(w->repo->hash_len, blob.data, blob.len, sum);
	return !memcmp(sum, n->oid, w->repo->hash_len);
}

/* Whether the blob is the LFS pointer of the file. */
static bool has_pointer(const struct wanted *w, int fd, const struct entry *n)
{
	struct lfs_pointer p;
	auto_buf text = BUF_SMALL;

	if (!lfs_of_file(fd, &p))
		return false;
	lfs_print(&p, &text);
	return has_id(w, &text, n);
}

/* Whether the file's content has the blob's id. */
static bool has_content(const struct wanted *w, const struct tree_entry *t, const struct entry *n)
{
	auto_buf content = BUF_INIT(FILE_MAX_SIZE);
	struct err ignored = ERR_INIT;
	auto_fd fd = -1;
	char text[4096];
	ssize_t len;

	if (!S_ISLNK(t->st.st_mode)) {
		fd = open_regular_beneath(t->dir, t->name);
		return fd >= 0 && ((!read_rest(fd, &content, t->name, &ignored) && has_id(w, &content, n)) ||
					  has_pointer(w, fd, n));
	}
	len = readlinkat(t->dir, t->name, text, sizeof(text));
	if (len >= 0)
		buf_add(&content, text, (size_t)len);
	return len >= 0 && has_id(w, &content, n);
}

static bool has_kind(const struct stat *st, unsigned mode)
{
	if (S_ISLNK(st->st_mode))
		return S_ISLNK(mode);
	return S_ISREG(st->st_mode) && S_ISREG(mode) && !(st->st_mode & 0100) == !(mode & 0100);
}

static enum tree_next look_at(const struct tree_entry *t, void *arg, struct err *e)
{
	struct wanted *w = arg;
	struct entry *n;

	(void)e;
	if (t->closed) {
		differs(w, t->path, "cannot be looked into");
		return TREE_SKIP;
	}
	/* a directory, or a delta's whiteout */
	if (S_ISDIR(t->st.st_mode) || (S_ISCHR(t->st.st_mode) && !t->st.st_rdev))
		return TREE_ON;
	n = find(w, t->path);
	if (!n) {
		differs(w, t->path, "was added");
		return TREE_ON;
	}
	n->seen = true;
	if (!has_kind(&t->st, n->mode))
		differs(w, t->path, "was changed");
	else if (!has_content(w, t, n))
		strvec_push(&w->doubtful, t->path);
	return TREE_ON;
}

/* git compares with its own conversions: of line ends, encodings. It needs all files of the base. */
static int ask_git(struct wanted *w, const struct base *b, struct strvec *ret, struct err *e)
{
	auto_neutral p = NEUTRAL_INIT;
	auto_buf out = BUF_INIT(DIFF_MAX);

	if (neutral_open_files(w->repo, w->repo->git_dir, false, &p, e) < 0)
		return -1;
	p.git.work_tree = p.git.cwd = b->layers.v[0];
	p.git.index = b->index;
	if (git_do(&p.git, &out, e, "diff", "-z", "--name-only", "--no-renames", "--no-ext-diff",
		    "--no-textconv", NULL) < 0)
		return -1;
	for (size_t at = 0; at < out.len; at += strlen(out.data + at) + 1)
		strvec_push(ret, out.data + at);
	return 0;
}

static int look_at_doubtful(struct wanted *w, const struct base *b, struct err *e)
{
	auto_strvec changed = STRVEC_INIT;
	bool whole = b->layers.n == 1;

	if (w->doubtful.n && whole && ask_git(w, b, &changed, e) < 0)
		return -1;
	for (size_t i = 0; i < w->doubtful.n; i++)
		if (!whole || strvec_has(&changed, w->doubtful.v[i]))
			differs(w, w->doubtful.v[i], "was changed");
	return 0;
}

int compare_base(const struct repo *r, const struct base *b, int tree, struct buf *what, struct err *e)
{
	struct wanted w = { .repo = r, .names = BUF_INIT(FILE_MAX_SIZE), .what = what };
	bool delta = b->layers.n > 1;
	int rc = delta ? want_delta(&w, b, tree, e) : want_index(&w, b->index, e);

	if (!rc)
		rc = tree_walk(tree, look_at, &w, e);
	if (!rc)
		rc = look_at_doubtful(&w, b, e);
	for (size_t i = 0; !rc && i < w.n; i++)
		if (!w.v[i].seen)
			differs(&w, name_of(&w, &w.v[i]), "is gone");
	if (w.others)
		buf_printf(what, " (and %zu more)", w.others);
	free(w.v);
	buf_release(&w.names);
	strvec_release(&w.doubtful);
	return rc;
}

/* The directories that lead to a submodule's files. */
struct around {
	struct wanted *w;
	const char *path;
};

static enum tree_next look_around(const struct tree_entry *t, void *arg, struct err *e)
{
	const struct around *a = arg;

	(void)e;
	if (S_ISDIR(t->st.st_mode) && path_within(a->path, t->path))
		return strcmp(a->path, t->path) ? TREE_ON : TREE_SKIP;
	differs(a->w, t->path, "was added");
	return TREE_SKIP;
}

int compare_submodule_base(const struct repo *r, const struct base *b, const char *path, int tree,
	struct buf *what, struct err *e)
{
	struct wanted w = { .repo = r, .what = what };
	struct around a = { &w, path };
	auto_base own = { .name = xstrdup(b->name), .index = xstrdup(b->index) };
	auto_str at = path_join(b->layers.v[0], path);
	auto_fd files = -1;

	strvec_push(&own.layers, at);
	if (tree_walk(tree, look_around, &a, e) < 0)
		return -1;
	/* one difference is enough */
	if (what->len)
		return 0;
	files = open_beneath(tree, path, O_RDONLY | O_DIRECTORY, 0);
	return files < 0 ? err_sys(e, "cannot open '%s'", at) : compare_base(r, &own, files, what, e);
}
