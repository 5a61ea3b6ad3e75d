#include "workspace/layer_use.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/path.h"
#include "sys/fd.h"
#include "sys/owner.h"
#include "sys/tree.h"

#define BROUGHT     "brought"
#define BROUGHT_MAX (512u << 20)

void layers_release(struct layers *l)
{
	for (size_t i = 0; i < l->n; i++)
		layer_release(&l->v[i]);
	strvec_release(&l->missing);
	*l = (struct layers){ 0 };
}

int layers_open(const struct workspace *ws, struct layers *ret, struct err *e)
{
	auto_strvec names = STRVEC_INIT;
	auto_layers l = { 0 };

	if (layers_of_dir(ws->dir, &names, e) < 0)
		return -1;
	for (size_t i = 0; i < names.n; i++) {
		struct err why = ERR_INIT;

		if (!layer_open(ws->home, ws->task->project_id, names.v[i], &l.v[l.n], &why)) {
			l.n++;
			continue;
		}
		if (why.kind != ERR_NOTFOUND)
			return *e = why, -1;
		strvec_push(&l.missing, names.v[i]);
	}
	*ret = l;
	l = (struct layers){ 0 };
	return 0;
}

int layers_drop_colliding(const struct workspace *ws, const char *commit, struct err *e)
{
	auto_strvec keep = STRVEC_INIT;
	auto_tracked t = { 0 };
	auto_layers l = { 0 };

	if (layers_open(ws, &l, e) < 0)
		return -1;
	if (!l.n)
		return 0;
	if (tracked_of_commit(ws->repo, commit, &t, e) < 0)
		return -1;
	for (size_t i = 0; i < l.n; i++)
		if (!layer_collides(&l.v[i], &t))
			strvec_push(&keep, l.v[i].name);
	return keep.n == l.n ? 0 : layers_put(ws->dir, &keep, e);
}

void layers_report(const struct layers *l, struct buf *out)
{
	for (size_t i = 0; i < l->n; i++)
		for (size_t k = 0; k < l->v[i].roots.n; k++) {
			const char *root = l->v[i].roots.v[k];

			for (const char *slash = root; (slash = strchr(slash, '/')); slash++) {
				buf_add(out, root, (size_t)(slash - root));
				buf_addch(out, '\0');
			}
			buf_add(out, root, strlen(root) + 1);
			buf_addstr(out, root);
			buf_add(out, "/", 2);
		}
}

/* What layers_copy has written, while it walks a layer. */
struct copying {
	int to;
	struct buf *notes;
	uid_t uid;
	gid_t gid;
	const struct strvec *skip;
	struct tracked before; /* what was noted before */
	struct tracked_range near;
};

static void add_note(struct copying *c, const struct tracked_entry *k, const char *path)
{
	buf_printf(c->notes, "%u %u %u %u %u %u %s", k->ctime_s, k->ctime_ns, k->mtime_s, k->mtime_ns, k->ino,
		k->size, path);
	buf_addch(c->notes, '\0');
}

static void note(struct copying *c, const struct tree_entry *t, int dir)
{
	struct tracked_entry k;
	struct stat st;

	if (fstatat(dir, t->name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return;
	k = (struct tracked_entry){ .ctime_s = (uint32_t)st.st_ctim.tv_sec,
		.ctime_ns = (uint32_t)st.st_ctim.tv_nsec,
		.mtime_s = (uint32_t)st.st_mtim.tv_sec,
		.mtime_ns = (uint32_t)st.st_mtim.tv_nsec,
		.ino = (uint32_t)st.st_ino,
		.size = (uint32_t)st.st_size };
	add_note(c, &k, t->path);
}

/* A file that was brought earlier stays known as such. */
static void note_again(struct copying *c, const char *path)
{
	const struct tracked_entry *k = c->before.n ? tracked_find(&c->before, path, &c->near) : NULL;

	if (k)
		add_note(c, k, path);
}

static bool is_skipped(const struct copying *c, const char *path)
{
	for (size_t i = 0; c->skip && i < c->skip->n; i++) {
		size_t n = strlen(c->skip->v[i]);

		if (!strncmp(c->skip->v[i], path, n) && (!path[n] || path[n] == '/'))
			return true;
	}
	return false;
}

static int copy_file(const struct tree_entry *t, int dir, struct err *e)
{
	auto_fd in = open_regular_beneath(t->dir, t->name);

	return in < 0 ? err_sys(e, "cannot read '%s' of a layer", t->path)
		      : layer_copy_file(in, &t->st, dir, t->name, e);
}

static int copy_link(const struct tree_entry *t, int dir, struct err *e)
{
	char text[PATH_MAX];
	ssize_t n = readlinkat(t->dir, t->name, text, sizeof(text) - 1);

	if (n < 0)
		return err_sys(e, "cannot read '%s' of a layer", t->path);
	text[n] = '\0';
	if (symlinkat(text, dir, t->name) < 0)
		return errno == EEXIST ? 1 : err_sys(e, "cannot write the link '%s'", t->path);
	return owner_give(dir, t->name) < 0 ? err_sys(e, "cannot write the link '%s'", t->path) : 0;
}

static enum tree_next copy_entry(const struct tree_entry *t, void *arg, struct err *e)
{
	struct copying *c = arg;
	bool is_dir = S_ISDIR(t->st.st_mode);
	auto_str parent =
		xstrndup(t->path, is_dir ? strlen(t->path) : (size_t)(path_base(t->path) - t->path));
	auto_fd dir = is_skipped(c, t->path) ? -1 : mkdirs_beneath(c->to, parent, 0755, c->uid, c->gid);
	int rc;

	if (is_skipped(c, t->path)) {
		note_again(c, t->path);
		return TREE_ON;
	}
	if (dir < 0) {
		/* the task's commit has something else there */
		if (errno == ENOTDIR || errno == ELOOP || errno == EEXIST)
			return TREE_SKIP;
		err_sys(e, "cannot make '%s'", parent);
		return TREE_STOP;
	}
	if (is_dir)
		return TREE_ON;
	rc = S_ISLNK(t->st.st_mode) ? copy_link(t, dir, e) : copy_file(t, dir, e);
	if (!rc)
		note(c, t, dir);
	else if (rc > 0)
		note_again(c, t->path);
	return rc < 0 ? TREE_STOP : TREE_ON;
}

int layers_copy(struct workspace *ws, const struct strvec *skip, struct err *e)
{
	auto_fd to = open(ws->host, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	auto_buf notes = BUF_INIT(BROUGHT_MAX);
	struct owner o = owner_inside();
	struct copying c = { .to = to,
		.notes = &notes,
		.uid = owner_is_other() ? o.uid : (uid_t)-1,
		.gid = o.gid,
		.skip = skip };
	mode_t old = umask(0022);
	auto_layers l = { 0 };
	int rc = to < 0 ? err_sys(e, "cannot open '%s'", ws->host) : layers_open(ws, &l, e);

	if (!rc && l.n)
		rc = layers_brought(ws, &c.before, e);

	for (size_t i = 0; i < l.n && !rc; i++) {
		auto_fd tree = open(l.v[i].path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);

		rc = tree < 0 ? err_sys(e, "cannot open '%s'", l.v[i].path)
			      : tree_walk(tree, copy_entry, &c, e);
	}
	umask(old);
	tracked_release(&c.before);
	if (rc < 0 || !notes.len)
		return rc;
	return write_file(ws->dir, BROUGHT, notes.data, notes.len, 0600, e);
}

static int by_name(const void *a, const void *b, void *names)
{
	const struct tracked_entry *x = a, *y = b;

	return strcmp((char *)names + x->name, (char *)names + y->name);
}

int layers_brought(const struct workspace *ws, struct tracked *ret, struct err *e)
{
	auto_buf text = BUF_INIT(BROUGHT_MAX);
	auto_tracked t = { .names = BUF_INIT(BROUGHT_MAX) };
	size_t cap = 0;

	if (read_file(ws->dir, BROUGHT, &text, e) < 0)
		return e->kind == ERR_NOTFOUND ? (*e = (struct err)ERR_INIT, 0) : -1;
	for (size_t at = 0; at < text.len; at += strlen(text.data + at) + 1) {
		struct tracked_entry k = { .name = t.names.len };
		int used = 0;

		if (sscanf(text.data + at, "%u %u %u %u %u %u %n", &k.ctime_s, &k.ctime_ns, &k.mtime_s,
			    &k.mtime_ns, &k.ino, &k.size, &used) != 6 ||
			!used)
			return err_set(e, ERR_FAILED, "cannot understand what was brought into the task");
		if (t.n == cap)
			t.v = xrealloc(t.v, cap = cap ? 2 * cap : 256, sizeof(*t.v));
		buf_add(&t.names, text.data + at + used, strlen(text.data + at + used) + 1);
		t.v[t.n++] = k;
	}
	if (t.n)
		qsort_r(t.v, t.n, sizeof(*t.v), by_name, t.names.data);
	*ret = t;
	t = (struct tracked){ 0 };
	return 0;
}

static int open_trees(const struct layers *l, int fds[LAYERS_MAX], struct err *e)
{
	for (size_t i = 0; i < l->n; i++) {
		fds[i] = open(l->v[i].path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
		if (fds[i] < 0)
			return err_sys(e, "cannot open '%s'", l->v[i].path);
	}
	return 0;
}

/* The number of the topmost layer that has a file or a link at the path, from 1; 0: none. */
static int layer_with(const int *trees, size_t n, const char *path, struct stat *st)
{
	for (size_t i = 0; i < n; i++)
		if (!lstat_beneath(trees[i], path, st) && !S_ISDIR(st->st_mode))
			return (int)i + 1;
	return 0;
}

int layers_mark(const struct workspace *ws, struct changes *c, struct err *e)
{
	auto_layers l = { 0 };

	if (layers_open(ws, &l, e) < 0 || open_trees(&l, c->layers, e) < 0)
		return -1;
	c->nlayers = l.n;
	for (size_t i = 0; l.n && i < c->n; i++) {
		struct stat st;

		c->v[i].brought = !c->v[i].tracked && layer_with(c->layers, l.n, c->v[i].path, &st);
	}
	return 0;
}

/* Whether the upper directory hides what the layers have at the path. */
static bool is_covered(int upper, const char *path)
{
	auto_str up = xstrdup(path);
	struct stat st;

	if (!lstat_beneath(upper, up, &st))
		return true;
	for (char *slash; (slash = strrchr(up, '/'));) {
		auto_fd dir = -1;
		char value[4];

		*slash = '\0';
		if (lstat_beneath(upper, up, &st) < 0)
			continue;
		if (!S_ISDIR(st.st_mode))
			return true;
		dir = open_beneath(upper, up, O_RDONLY | O_DIRECTORY, 0);
		if (dir < 0 ||
			(fgetxattr(dir, "user.overlay.opaque", value, sizeof(value)) == 1 && value[0] == 'y'))
			return true;
	}
	return false;
}

int layers_committed(const struct workspace *ws, struct scratch *s, const char *since, const char *tip,
	struct changes *c, struct err *e)
{
	auto_buf added = BUF_INIT(512u << 20);

	(void)ws;
	if (!c->nlayers || !strcmp(since, tip))
		return 0;
	if (scratch_added(s, since, tip, &added, e) < 0)
		return -1;
	for (size_t at = 0; at < added.len; at += strlen(added.data + at) + 1) {
		const char *path = added.data + at;
		struct stat st;
		int layer = layer_with(c->layers, c->nlayers, path, &st);

		if (layer && !is_covered(c->root, path))
			scan_add_below(c, path, &st, layer);
	}
	return 0;
}
