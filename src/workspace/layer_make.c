/* Makes layers: fills the part, writes the roots, puts it in place. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <strings.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/path.h"
#include "sys/fault.h"
#include "sys/fd.h"
#include "sys/owner.h"
#include "sys/sync_later.h"
#include "sys/tree.h"
#include "workspace/layer.h"

int layer_begin(
	const struct home *h, int64_t project, const char *name, struct layer_part *ret, struct err *e)
{
	struct layer_part l = LAYER_PART_INIT;
	mode_t old = umask(0022);
	int rc = -1;

	l.home = h;
	l.project = project;
	l.name = xstrdup(name);
	l.part = xasprintf("%s.part", name);
	if (!layer_place(h, project, &l.place, e) && !tree_remove(l.place, l.part, e)) {
		if (mkdirat(l.place, l.part, 0755) < 0 || owner_give(l.place, l.part) < 0 ||
			(l.dir = openat(l.place, l.part, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) < 0 ||
			mkdirat(l.dir, "tree", 0755) < 0 || owner_give(l.dir, "tree") < 0 ||
			(l.tree = openat(l.dir, "tree", O_RDONLY | O_DIRECTORY | O_CLOEXEC)) < 0)
			err_sys(e, "cannot make the layer '%s'", name);
		else
			rc = 0;
	}
	umask(old);
	if (rc < 0)
		layer_drop(&l);
	else
		*ret = l;
	return rc;
}

void layer_drop(struct layer_part *l)
{
	struct err ignored = ERR_INIT;

	if (l->part && l->place >= 0)
		tree_remove(l->place, l->part, &ignored);
	fd_closep(&l->last);
	fd_closep(&l->tree);
	fd_closep(&l->dir);
	fd_closep(&l->place);
	free(l->name);
	free(l->part);
	free(l->last_path);
	*l = (struct layer_part)LAYER_PART_INIT;
}

int layer_parent(struct layer_part *l, const char *path)
{
	auto_str parent = xstrndup(path, (size_t)(path_base(path) - path));
	struct owner o = owner_inside();

	if (l->last >= 0 && !strcmp(l->last_path, parent))
		return l->last;
	fd_closep(&l->last);
	free(steal_ptr(l->last_path));
	l->last = mkdirs_beneath(l->tree, parent, 0755, owner_is_other() ? o.uid : (uid_t)-1, o.gid);
	if (l->last >= 0)
		l->last_path = steal_ptr(parent);
	return l->last;
}

/* Whether a link's target stays in the tree: relative, without more ".." than the path is deep. */
static bool stays_within(const char *text, const char *path)
{
	long depth = 0;

	for (const char *p = path; (p = strchr(p, '/')); p++)
		depth++;
	for (const char *p = text; *p && depth >= 0 && *text != '/'; p += strspn(p, "/")) {
		size_t n = strcspn(p, "/");

		if (n == 2 && !strncmp(p, "..", 2))
			depth--;
		else if (!(n == 1 && *p == '.'))
			depth++;
		p += n;
	}
	return *text != '/' && depth >= 0;
}

/* A link that leads out of the checkout is not taken: inside it would lead somewhere else. */
static int copy_link(struct layer_part *l, int from, const char *path, bool *ret_taken, struct err *e)
{
	auto_str above = xstrndup(path, (size_t)(path_base(path) - path));
	auto_fd dir = open_beneath(from, above, O_RDONLY | O_DIRECTORY, 0);
	char text[PATH_MAX];
	ssize_t n = dir < 0 ? -1 : readlinkat(dir, path_base(path), text, sizeof(text) - 1);
	int to;

	if (n < 0)
		return 0;
	text[n] = '\0';
	if (!stays_within(text, path))
		return 0;
	to = layer_parent(l, path);
	if (to < 0 || symlinkat(text, to, path_base(path)) < 0 || owner_give(to, path_base(path)) < 0)
		return err_sys(e, "cannot write the link '%s'", path);
	l->files++;
	*ret_taken = true;
	return 0;
}

int layer_copy_file(int in, const struct stat *st, int to, const char *name, struct err *e)
{
	auto_fd out = openat(to, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);

	if (out < 0)
		return errno == EEXIST ? 1 : err_sys(e, "cannot write '%s'", name);
	if (copy_fd(in, out, e) < 0)
		return err_wrap(e, "'%s'", name);
	if (fchmod(out, st->st_mode & 0777) < 0 || owner_give(out, "") < 0)
		return err_sys(e, "cannot write '%s'", name);
	futimens(out, (struct timespec[2]){ st->st_atim, st->st_mtim });
	return 0;
}

int layer_add_file(struct layer_part *l, int from, const char *path, bool *ret_taken, struct err *e)
{
	auto_fd in = -1;
	struct stat st;
	int to, rc;

	*ret_taken = false;
	if (lstat_beneath(from, path, &st) < 0)
		return 0;
	if (S_ISLNK(st.st_mode))
		return copy_link(l, from, path, ret_taken, e);
	in = open_regular_beneath(from, path);
	if (in < 0 || fstat(in, &st) < 0)
		return 0;
	to = layer_parent(l, path);
	if (to < 0)
		return err_sys(e, "cannot write '%s'", path);
	rc = layer_copy_file(in, &st, to, path_base(path), e);
	if (rc)
		return rc < 0 ? -1 : err_set(e, ERR_FAILED, "'%s' appears twice", path);
	l->files++;
	l->bytes += (uint64_t)st.st_size;
	*ret_taken = true;
	return 0;
}

struct move {
	struct layer_part *l;
	const struct tracked *tracked;
	struct tracked_range near;
	struct strvec *changed, *left_out;
};

static void name(struct strvec *list, const char *path)
{
	if (list && list->n < LAYER_NAMES_MAX)
		strvec_push(list, path);
}

/* Whether the overlay has left a mark on the file: it was copied up from the base. */
static bool is_marked(const struct tree_entry *t)
{
	auto_fd fd = S_ISREG(t->st.st_mode) ? open_beneath(t->dir, t->name, O_RDONLY | O_NONBLOCK, 0) : -1;
	char names[1024];
	ssize_t n = fd < 0 ? 0 : flistxattr(fd, names, sizeof(names));

	if (n < 0)
		return errno != ENOTSUP;
	for (ssize_t at = 0; at < n; at += (ssize_t)strlen(names + at) + 1)
		if (!strncmp(names + at, "user.overlay.", 13))
			return true;
	return false;
}

static int move_file(struct move *m, const struct tree_entry *t, struct err *e)
{
	int to;

	/* a file that only its owner could open, or that is marked, is of no use to anybody */
	if (S_ISREG(t->st.st_mode)) {
		mode_t mode = (t->st.st_mode & 0777) | 0400;

		if (mode != (t->st.st_mode & 07777) && fchmodat(t->dir, t->name, mode, 0) < 0)
			return err_sys(e, "cannot change the mode of '%s'", t->path);
	}
	if (is_marked(t))
		return name(m->left_out, t->path), 0;
	to = layer_parent(m->l, t->path);
	if (to < 0 || renameat(t->dir, t->name, to, t->name) < 0)
		return err_sys(e, "cannot move '%s' to a layer", t->path);
	m->l->files++;
	m->l->bytes += (uint64_t)t->st.st_size;
	return 0;
}

static bool is_repo(const struct tree_entry *t)
{
	auto_str dot_git = xasprintf("%s/.git", t->name);
	struct stat st;

	return !lstat_beneath(t->dir, dot_git, &st);
}

static enum tree_next move_dir(struct move *m, const struct tree_entry *t, struct err *e)
{
	auto_str within = xasprintf("%s/.", t->path);

	if (t->closed || is_repo(t)) {
		name(m->left_out, t->path);
		return TREE_SKIP;
	}
	/* go makes its modules read-only, and nothing can be moved out of them */
	if ((t->st.st_mode & 0700) != 0700)
		tree_make_movable(t->dir, t->name);
	/* directories without files count too: a tool may want them */
	if (!tracked_has_dir(m->tracked, t->path) && layer_parent(m->l, within) < 0) {
		err_sys(e, "cannot make '%s' in a layer", t->path);
		return TREE_STOP;
	}
	return TREE_ON;
}

static enum tree_next move_entry(const struct tree_entry *t, void *arg, struct err *e)
{
	struct move *m = arg;
	bool whiteout = S_ISCHR(t->st.st_mode) && t->st.st_rdev == 0;

	if (!strcasecmp(t->name, ".git"))
		return TREE_SKIP;
	if (!S_ISDIR(t->st.st_mode) && tracked_find(m->tracked, t->path, &m->near)) {
		name(m->changed, t->path);
		return TREE_SKIP;
	}
	if (S_ISDIR(t->st.st_mode)) {
		struct tracked_range near = { 0 };

		if (!tracked_find(m->tracked, t->path, &near))
			return move_dir(m, t, e);
		name(m->changed, t->path);
		return TREE_SKIP;
	}
	if (whiteout) {
		name(m->changed, t->path);
		return TREE_ON;
	}
	if (!S_ISREG(t->st.st_mode) && !S_ISLNK(t->st.st_mode)) {
		name(m->left_out, t->path);
		return TREE_ON;
	}
	/* a commit has a file where this has a directory, or the other way round */
	if (tracked_has_dir(m->tracked, t->path)) {
		name(m->changed, t->path);
		return TREE_ON;
	}
	return move_file(m, t, e) < 0 ? TREE_STOP : TREE_ON;
}

int layer_move(struct layer_part *l, int upper, const struct tracked *t, struct strvec *changed,
	struct strvec *left_out, struct err *e)
{
	struct move m = { .l = l, .tracked = t, .changed = changed, .left_out = left_out };

	return tree_walk(upper, move_entry, &m, e);
}

struct rooting {
	const struct tracked *tracked;
	struct buf *out;
};

/* The topmost paths that are no directory of the commit. */
static enum tree_next find_root(const struct tree_entry *t, void *arg, struct err *e)
{
	struct rooting *r = arg;

	(void)e;
	if (S_ISDIR(t->st.st_mode) && tracked_has_dir(r->tracked, t->path))
		return TREE_ON;
	buf_add(r->out, t->path, strlen(t->path) + 1);
	return TREE_SKIP;
}

int layer_begin_caches(struct layer_part *l, struct layer_part *ret, struct err *e)
{
	struct layer_part p = LAYER_PART_INIT;

	p.home = l->home;
	p.project = l->project;
	if (mkdirat(l->dir, LAYER_CACHES, 0755) < 0 || owner_give(l->dir, LAYER_CACHES) < 0 ||
		(p.tree = openat(l->dir, LAYER_CACHES, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) < 0)
		return err_sys(e, "cannot make the caches of the layer '%s'", l->name);
	*ret = p;
	return 0;
}

int layer_end_caches(struct layer_part *l, struct layer_part *ret, bool keep, struct err *e)
{
	bool any = keep && ret->files > 0;

	l->files += any ? ret->files : 0;
	l->bytes += any ? ret->bytes : 0;
	layer_drop(ret);
	return any ? 0 : tree_remove(l->dir, LAYER_CACHES, e);
}

int layer_finish(struct layer_part *l, const struct tracked *t, const char *about, struct err *e)
{
	auto_buf roots = BUF_INIT(16u << 20);
	struct rooting r = { t, &roots };
	char boot[64];

	if (tree_walk(l->tree, find_root, &r, e) < 0)
		return -1;
	if (roots.overflow)
		return err_set(e, ERR_FAILED, "the layer '%s' has too many paths", l->name);
	home_boot_id(boot);
	if (write_file(l->dir, "about", about, strlen(about), 0600, e) < 0 ||
		write_file(l->dir, "boot", boot, strlen(boot), 0600, e) < 0)
		return -1;
	fault("layer-filled");
	if (write_file(l->dir, "roots", roots.data ? roots.data : "", roots.len, 0644, e) < 0)
		return -1;
	fault("layer-made");
	/* one that is torn, or was changed, makes room */
	if (layer_remove(l->home, l->project, l->name, true, e) < 0)
		return -1;
	if (renameat(l->place, l->part, l->place, l->name) < 0)
		return err_sys(e, "cannot put the layer '%s' in place", l->name);
	free(steal_ptr(l->part));
	sync_later(l->dir, "boot", NULL);
	return 0;
}
