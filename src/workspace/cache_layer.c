#include "workspace/cache_layer.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/path.h"
#include "sys/dir.h"
#include "sys/fault.h"
#include "sys/fd.h"
#include "sys/lock.h"
#include "sys/owner.h"
#include "sys/tree.h"

#define CHAIN   "caches"
#define OPAQUE  "user.overlay.opaque"
#define MARKS   "user.overlay."
#define NEW_TOP "top"
/* more layers than can exist at once */
#define NAMES_MAX 1000

char *cache_layer_name(const char *path)
{
	auto_buf name = BUF_SMALL;

	for (; *path; path++)
		if (*path == '/' || *path == '%')
			buf_printf(&name, "%%%02X", (unsigned char)*path);
		else
			buf_addch(&name, *path);
	return buf_steal(&name);
}

/* The path again, for messages. */
static void add_path(struct buf *out, const char *name)
{
	for (; *name; name++)
		if (!strncmp(name, "%2F", 3) || !strncmp(name, "%25", 3)) {
			buf_addch(out, name[2] == 'F' ? '/' : '%');
			name += 2;
		} else {
			buf_addch(out, *name);
		}
}

int cache_layer_begin(
	const struct home *h, int64_t project, struct layer_part *ret, int *ret_lock, struct err *e)
{
	for (unsigned i = 1; i < NAMES_MAX; i++) {
		auto_str name = xasprintf(LAYER_CACHE "%lld-%u", (long long)project, i);
		auto_str path = xasprintf("layers/%lld/%s", (long long)project, name);
		auto_lock lock = -1;

		if (layer_lock(h, project, name, false, &lock, e) < 0) {
			if (e->kind != ERR_BUSY)
				return -1;
			*e = (struct err)ERR_INIT;
		} else if (faccessat(h->fd, path, F_OK, AT_SYMLINK_NOFOLLOW) < 0) {
			if (layer_begin(h, project, name, ret, e) < 0)
				return -1;
			*ret_lock = lock;
			lock = -1;
			return 0;
		}
	}
	return err_set(e, ERR_BUSY, "the project's cache has too many layers");
}

int cache_layer_lock(const struct home *h, int64_t project, int *ret_lock, struct err *e)
{
	auto_fd place = -1;

	return layer_place(h, project, &place, e) < 0 ? -1
						      : lock_take(place, CHAIN ".lock", true, ret_lock, e);
}

static char *chain_path(int64_t project)
{
	return xasprintf("layers/%lld/" CHAIN, (long long)project);
}

bool cache_layer_exists(const struct home *h, int64_t project)
{
	auto_str path = chain_path(project);

	return !faccessat(h->fd, path, F_OK, AT_SYMLINK_NOFOLLOW);
}

static int read_chain(const struct home *h, int64_t project, struct strvec *ret, struct err *e)
{
	auto_str path = chain_path(project);
	auto_buf text = BUF_SMALL;

	if (read_file(h->fd, path, &text, e) < 0)
		return e->kind == ERR_NOTFOUND ? (*e = (struct err)ERR_INIT, 0) : -1;
	for (const char *p = buf_str(&text); *p && ret->n < CACHE_LAYERS_MAX; p += strspn(p, "\n")) {
		size_t n = strcspn(p, "\n");

		strvec_pushn(ret, p, n);
		p += n;
	}
	return 0;
}

static int write_chain(const struct home *h, int64_t project, const struct strvec *names, struct err *e)
{
	auto_str path = chain_path(project);
	auto_buf text = BUF_SMALL;

	for (size_t i = 0; names && i < names->n; i++)
		buf_printf(&text, "%s\n", names->v[i]);
	return write_file(h->fd, path, buf_str(&text), text.len, 0600, e);
}

int cache_layer_chain(const struct home *h, int64_t project, struct strvec *ret, struct err *e)
{
	auto_strvec names = STRVEC_INIT;

	if (read_chain(h, project, &names, e) < 0)
		return -1;
	for (size_t i = 0; i < names.n; i++) {
		struct err none = ERR_INIT;
		auto_layer l = { 0 };

		if (layer_open(h, project, names.v[i], &l, &none) < 0)
			return 0;
	}
	strvec_pushv(ret, (const char *const *)names.v);
	return 0;
}

int cache_layer_forget(const struct home *h, int64_t project, struct err *e)
{
	return write_chain(h, project, NULL, e);
}

static bool is_whiteout(const struct stat *st)
{
	return S_ISCHR(st->st_mode) && st->st_rdev == 0;
}

static bool is_opaque(const struct tree_entry *t)
{
	auto_fd fd = open_beneath(t->dir, t->name, O_RDONLY | O_DIRECTORY, 0);
	char value[4];

	return fd >= 0 && fgetxattr(fd, OPAQUE, value, sizeof(value)) == 1 && value[0] == 'y';
}

static int make_opaque(int dir)
{
	return fsetxattr(dir, OPAQUE, "y", 1, 0);
}

/* What cache_layer_fill works on. */
struct filling {
	struct layer_part *l;
	const char *name;
	bool move;
	struct strvec *left_out;
};

static void leave_out(struct filling *f, const char *path)
{
	if (f->left_out->n < LAYER_NAMES_MAX)
		strvec_push(f->left_out, path);
}

/* Removes the overlay's marks from a file: it may be a copy of a file of a lower layer, and a task may set any mark on
 * files of its home. Attributes can be changed only if the mode allows writing. */
static int drop_marks(int fd, mode_t mode)
{
	char names[4096];
	ssize_t n = flistxattr(fd, names, sizeof(names));
	bool open = false;

	for (ssize_t at = 0; at < n; at += (ssize_t)strlen(names + at) + 1) {
		if (strncmp(names + at, MARKS, strlen(MARKS)) != 0)
			continue;
		if (!open && fchmod(fd, mode | 0600) < 0)
			return -1;
		open = true;
		if (fremovexattr(fd, names + at) < 0)
			return -1;
	}
	return n < 0 && errno != ENOTSUP ? -1 : 0;
}

static int move_file(struct filling *f, const struct tree_entry *t, int to, struct err *e)
{
	mode_t mode = (t->st.st_mode & 0777) | 0400;
	auto_fd fd = -1;

	if (S_ISREG(t->st.st_mode)) {
		/* this also removes the set-id bits, and allows the file to be opened */
		if (mode != (t->st.st_mode & 07777) && fchmodat(t->dir, t->name, mode, 0) < 0)
			return err_sys(e, "cannot change the mode of '%s'", t->path);
		fd = open_regular_beneath(t->dir, t->name);
		/* a file with more attributes than can be listed */
		if (fd < 0 || drop_marks(fd, mode) < 0)
			return leave_out(f, t->path), 0;
		if (fchmod(fd, mode) < 0)
			return err_sys(e, "cannot change the mode of '%s'", t->path);
	}
	if (renameat(t->dir, t->name, to, t->name) < 0)
		return err_sys(e, "cannot move '%s' to a layer", t->path);
	f->l->files++;
	f->l->bytes += (uint64_t)t->st.st_size;
	return 0;
}

static int copy_link(const struct tree_entry *t, int to, struct err *e)
{
	char text[PATH_MAX];
	ssize_t n = readlinkat(t->dir, t->name, text, sizeof(text) - 1);

	if (n < 0)
		return err_sys(e, "cannot read the link '%s'", t->path);
	text[n] = '\0';
	if (symlinkat(text, to, t->name) < 0 || owner_give(to, t->name) < 0)
		return err_sys(e, "cannot write the link '%s'", t->path);
	return 0;
}

static int copy(struct filling *f, const struct tree_entry *t, int to, struct err *e)
{
	auto_fd in = -1;
	struct stat st;
	int rc;

	f->l->files++;
	f->l->bytes += (uint64_t)t->st.st_size;
	if (S_ISLNK(t->st.st_mode))
		return copy_link(t, to, e);
	in = open_regular_beneath(t->dir, t->name);
	if (in < 0 || fstat(in, &st) < 0)
		return leave_out(f, t->path), 0;
	st.st_mode |= 0400;
	rc = layer_copy_file(in, &st, to, t->name, e);
	return rc > 0 ? err_set(e, ERR_FAILED, "'%s' exists twice", t->path) : rc;
}

static enum tree_next fill_dir(struct filling *f, const struct tree_entry *t, const char *path, struct err *e)
{
	auto_str within = xasprintf("%s/.", path);
	int dir;

	if (t->closed) {
		leave_out(f, t->path);
		return TREE_SKIP;
	}
	/* go makes its modules read-only */
	if (f->move && (t->st.st_mode & 0700) != 0700)
		tree_make_movable(t->dir, t->name);
	dir = layer_parent(f->l, within);
	if (dir >= 0 && (!is_opaque(t) || !make_opaque(dir)))
		return TREE_ON;
	if (dir < 0 && errno == ENAMETOOLONG) {
		leave_out(f, t->path);
		return TREE_SKIP;
	}
	err_sys(e, "cannot make '%s' in a layer", t->path);
	return TREE_STOP;
}

static enum tree_next fill_entry(const struct tree_entry *t, void *arg, struct err *e)
{
	struct filling *f = arg;
	auto_str path = xasprintf("%s/%s", f->name, t->path);
	bool whiteout = is_whiteout(&t->st);
	int to;

	if (S_ISDIR(t->st.st_mode))
		return fill_dir(f, t, path, e);
	if (!whiteout && !S_ISREG(t->st.st_mode) && !S_ISLNK(t->st.st_mode)) {
		leave_out(f, t->path);
		return TREE_ON;
	}
	to = layer_parent(f->l, path);
	if (to < 0) {
		err_sys(e, "cannot write '%s' to a layer", t->path);
		return TREE_STOP;
	}
	if (whiteout) {
		f->l->files++;
		if (!mknodat(to, t->name, S_IFCHR, makedev(0, 0)))
			return TREE_ON;
		err_sys(e, "cannot mark '%s' as gone in a layer", t->path);
		return TREE_STOP;
	}
	/* a file with other names would change again when those are removed */
	return (f->move && t->st.st_nlink == 1 ? move_file(f, t, to, e) : copy(f, t, to, e)) < 0 ? TREE_STOP
												 : TREE_ON;
}

int cache_layer_fill(
	struct layer_part *l, const char *path, int from, bool move, struct strvec *left_out, struct err *e)
{
	auto_str name = cache_layer_name(path);
	struct filling f = { l, name, move, left_out };

	return tree_walk(from, fill_entry, &f, e);
}

/* Puts an entry of a newer layer into an older one. Both are Garth's own: a directory that the older one does not
 * have is moved as it is. */
static enum tree_next merge_entry(const struct tree_entry *t, void *arg, struct err *e)
{
	int *root = arg;
	auto_str parent = xstrndup(t->path, (size_t)(path_base(t->path) - t->path));
	auto_fd to = open_beneath(*root, parent, O_RDONLY | O_DIRECTORY, 0), dir = -1;
	bool is_dir = S_ISDIR(t->st.st_mode), hides = false;
	struct stat old;

	if (to >= 0 && !fstatat(to, t->name, &old, AT_SYMLINK_NOFOLLOW)) {
		if (is_dir && S_ISDIR(old.st_mode) && !is_opaque(t))
			return TREE_ON;
		/* if there was a whiteout or a file, nothing of the layers below may appear */
		hides = is_dir;
		if ((is_dir || S_ISDIR(old.st_mode)) && tree_remove(to, t->name, e) < 0)
			return TREE_STOP;
	}
	if (to < 0 || renameat(t->dir, t->name, to, t->name) < 0 ||
		(hides && ((dir = open_beneath(to, t->name, O_RDONLY | O_DIRECTORY, 0)) < 0 ||
				  make_opaque(dir) < 0))) {
		err_sys(e, "cannot merge '%s' of a layer", t->path);
		return TREE_STOP;
	}
	return TREE_SKIP;
}

static int merge_tree(int newer, int *older, struct err *e)
{
	return newer < 0 ? err_sys(e, "cannot open a layer") : tree_walk(newer, merge_entry, older, e);
}

/* Makes one layer of the part and of the chain below it. If that is interrupted, the chain is empty. */
static int merge_chain(struct layer_part *l, struct strvec *chain, struct err *e)
{
	auto_str last = xasprintf("%s/tree", chain->v[chain->n - 1]);
	auto_fd top = -1;

	if (cache_layer_forget(l->home, l->project, e) < 0)
		return -1;
	fault("cache-merge");
	fd_closep(&l->tree);
	fd_closep(&l->last);
	if (renameat(l->dir, "tree", l->dir, NEW_TOP) < 0 || renameat(l->place, last, l->dir, "tree") < 0 ||
		(l->tree = openat(l->dir, "tree", O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW)) < 0)
		return err_sys(e, "cannot merge layers");
	for (size_t i = chain->n - 1; i--;) {
		auto_str path = xasprintf("%s/tree", chain->v[i]);
		auto_fd tree = open_beneath(l->place, path, O_RDONLY | O_DIRECTORY, 0);

		if (merge_tree(tree, &l->tree, e) < 0)
			return -1;
	}
	top = open_beneath(l->dir, NEW_TOP, O_RDONLY | O_DIRECTORY, 0);
	if (merge_tree(top, &l->tree, e) < 0 || tree_remove(l->dir, NEW_TOP, e) < 0)
		return -1;
	fault("cache-merged");
	for (size_t i = 0; i < chain->n; i++)
		if (layer_remove(l->home, l->project, chain->v[i], true, e) < 0)
			return -1;
	strvec_release(chain);
	return 0;
}

/* Which caches the layer has, for messages. */
static void describe(const struct layer_part *l, struct buf *out)
{
	int copy = openat(l->tree, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	auto_dir d = copy < 0 ? NULL : fdopendir(copy);
	auto_strvec names = STRVEC_INIT;
	struct dirent *ent;

	while (d && (ent = readdir(d)))
		if (!dir_is_dot(ent->d_name))
			strvec_push(&names, ent->d_name);
	strvec_sort(&names);
	for (size_t i = 0; i < names.n; i++) {
		buf_addstr(out, i ? " ~/" : "~/");
		add_path(out, names.v[i]);
	}
}

int cache_layer_put(struct layer_part *l, bool merge, struct err *e)
{
	const struct tracked none = { 0 };
	auto_str name = xstrdup(l->name);
	auto_strvec chain = STRVEC_INIT, names = STRVEC_INIT;
	auto_buf about = BUF_SMALL;

	if (cache_layer_chain(l->home, l->project, &chain, e) < 0 ||
		(merge && chain.n >= CACHE_LAYERS_MERGE && merge_chain(l, &chain, e) < 0))
		return -1;
	if (chain.n >= CACHE_LAYERS_MAX)
		return err_set(e, ERR_BUSY, "running tasks use the project's cache");
	describe(l, &about);
	if (layer_finish(l, &none, buf_str(&about), e) < 0)
		return -1;
	fault("cache-layer");
	strvec_push(&names, name);
	strvec_pushv(&names, (const char *const *)chain.v);
	return write_chain(l->home, l->project, &names, e);
}
