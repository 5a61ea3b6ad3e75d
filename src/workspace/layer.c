#include "workspace/layer.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/path.h"
#include "sys/dir.h"
#include "sys/fd.h"
#include "sys/lock.h"
#include "sys/remove_later.h"
#include "sys/tree.h"

#define ROOTS_MAX (16u << 20)
#define TASK_FILE "layers"
#define LOG_DAYS  7

void layer_release(struct layer *l)
{
	free(l->name);
	free(l->path);
	strvec_release(&l->roots);
	*l = (struct layer){ 0 };
}

int layer_place(const struct home *h, int64_t project, int *ret_fd, struct err *e)
{
	auto_str name = xasprintf("layers/%lld", (long long)project);

	if ((mkdirat(h->fd, "layers", 0700) < 0 && errno != EEXIST) ||
		(mkdirat(h->fd, name, 0700) < 0 && errno != EEXIST))
		return err_sys(e, "cannot make '%s/%s'", h->path, name);
	*ret_fd = openat(h->fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	return *ret_fd < 0 ? err_sys(e, "cannot open '%s/%s'", h->path, name) : 0;
}

int layer_lock(const struct home *h, int64_t project, const char *name, bool wait, int *ret_fd, struct err *e)
{
	auto_str file = xasprintf("%s.lock", name);
	auto_fd place = -1;

	return layer_place(h, project, &place, e) < 0 ? -1 : lock_take(place, file, wait, ret_fd, e);
}

static void split(const struct buf *text, struct strvec *ret)
{
	for (size_t at = 0; at < text->len; at += strlen(text->data + at) + 1)
		strvec_push(ret, text->data + at);
}

int layer_open(const struct home *h, int64_t project, const char *name, struct layer *ret, struct err *e)
{
	auto_str path = xasprintf("layers/%lld/%s", (long long)project, name);
	auto_fd dir = openat(h->fd, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	auto_buf roots = BUF_INIT(ROOTS_MAX);
	struct stat st;

	if (dir < 0 || home_is_torn(dir) || fstatat(dir, "tree", &st, AT_SYMLINK_NOFOLLOW) < 0 ||
		!S_ISDIR(st.st_mode))
		return err_set(e, ERR_NOTFOUND, "there is no layer '%s'", name);
	if (read_file(dir, "roots", &roots, e) < 0)
		return -1;
	*ret = (struct layer){ .name = xstrdup(name), .path = home_path(h, "%s/tree", path) };
	split(&roots, &ret->roots);
	return 0;
}

bool layer_collides(const struct layer *l, const struct tracked *t)
{
	for (size_t i = 0; i < l->roots.n; i++)
		if (tracked_has_at(t, l->roots.v[i]))
			return true;
	return false;
}

void layer_touch(const struct home *h, int64_t project, const char *name)
{
	auto_str path = xasprintf("layers/%lld/%s", (long long)project, name);

	utimensat(h->fd, path, NULL, AT_SYMLINK_NOFOLLOW);
}

int layers_of_dir(int task_dir, struct strvec *ret, struct err *e)
{
	auto_buf text = BUF_SMALL;

	if (read_file(task_dir, TASK_FILE, &text, e) < 0)
		return e->kind == ERR_NOTFOUND ? (*e = (struct err)ERR_INIT, 0) : -1;
	for (const char *p = buf_str(&text); *p && ret->n < LAYERS_MAX; p += strspn(p, "\n")) {
		size_t n = strcspn(p, "\n");

		strvec_pushn(ret, p, n);
		p += n;
	}
	return 0;
}

int layers_put(int task_dir, const struct strvec *names, struct err *e)
{
	auto_buf text = BUF_SMALL;

	if (!names->n && faccessat(task_dir, TASK_FILE, F_OK, AT_SYMLINK_NOFOLLOW) < 0)
		return 0;
	for (size_t i = 0; i < names->n; i++)
		buf_printf(&text, "%s\n", names->v[i]);
	return write_file(task_dir, TASK_FILE, buf_str(&text), text.len, 0600, e);
}

static bool ends_in(const char *s, const char *end)
{
	size_t n = strlen(s), m = strlen(end);

	return n > m && !strcmp(s + n - m, end);
}

static bool is_layer(const char *name)
{
	return !strchr(name, '.') && (!strncmp(name, LAYER_SETUP, strlen(LAYER_SETUP)) ||
					     !strncmp(name, LAYER_INCLUDE, strlen(LAYER_INCLUDE)) ||
					     !strncmp(name, LAYER_CACHE, strlen(LAYER_CACHE)));
}

int layer_list(const struct home *h, int64_t project, bool parts, struct strvec *ret, struct err *e)
{
	auto_str path = xasprintf("layers/%lld", (long long)project);
	int fd = openat(h->fd, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	auto_dir d = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *ent;

	if (!d)
		return fd < 0 && errno == ENOENT ? 0 : (fd_closep(&fd), err_sys(e, "cannot list '%s'", path));
	while ((ent = readdir(d)))
		if (parts ? ends_in(ent->d_name, ".part") || ends_in(ent->d_name, ".gone")
			  : is_layer(ent->d_name))
			strvec_push(ret, ent->d_name);
	strvec_sort(ret);
	return 0;
}

int layer_remove(const struct home *h, int64_t project, const char *name, bool later, struct err *e)
{
	auto_str gone = xasprintf("%s.%d.gone", name, getpid());
	auto_fd place = -1;

	if (layer_place(h, project, &place, e) < 0)
		return -1;
	/* rename before removing: half of a layer must never have a layer's name */
	if (renameat(place, name, place, gone) < 0)
		return errno == ENOENT ? 0 : err_sys(e, "cannot remove the layer '%s'", name);
	return (later ? later_remove : tree_remove)(place, gone, e);
}

/* The set-up layer that was used last, on the heap, or NULL. */
static char *newest(int place, const struct strvec *names)
{
	struct timespec best = { 0 };
	char *found = NULL;

	for (size_t i = 0; i < names->n; i++) {
		struct stat st;

		if (strncmp(names->v[i], LAYER_SETUP, strlen(LAYER_SETUP)) ||
			fstatat(place, names->v[i], &st, AT_SYMLINK_NOFOLLOW) < 0 ||
			(found && (st.st_mtim.tv_sec < best.tv_sec ||
					  (st.st_mtim.tv_sec == best.tv_sec &&
						  st.st_mtim.tv_nsec < best.tv_nsec))))
			continue;
		free(found);
		found = xstrdup(names->v[i]);
		best = st.st_mtim;
	}
	return found;
}

/* Removes what a crash left. Whoever makes a layer holds its lock. */
static int sweep(const struct home *h, int64_t project, int place, bool later, struct err *e)
{
	auto_strvec parts = STRVEC_INIT;

	if (layer_list(h, project, true, &parts, e) < 0)
		return -1;
	for (size_t i = 0; i < parts.n; i++) {
		auto_str name = xstrndup(parts.v[i], strcspn(parts.v[i], "."));
		struct err busy = ERR_INIT;
		auto_lock lock = -1;

		if (ends_in(parts.v[i], ".gone")) {
			if ((later ? later_remove : tree_remove)(place, parts.v[i], e) < 0)
				return -1;
		} else if (!layer_lock(h, project, name, false, &lock, &busy) &&
			   layer_remove(h, project, parts.v[i], later, e) < 0) {
			return -1;
		}
	}
	return 0;
}

/* Removes old logs of set-ups that failed. */
static void drop_logs(int place)
{
	int copy = openat(place, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	auto_dir d = copy < 0 ? NULL : fdopendir(copy);
	struct dirent *ent;
	struct stat st;

	while (d && (ent = readdir(d)))
		if (ends_in(ent->d_name, ".failed") &&
			!fstatat(place, ent->d_name, &st, AT_SYMLINK_NOFOLLOW) &&
			st.st_mtime < time(NULL) - LOG_DAYS * 24 * 3600)
			unlinkat(place, ent->d_name, 0);
}

static int remove_if_unused(const struct home *h, int64_t project, const char *name, layer_used_fn *is_used,
	void *arg, bool later, struct err *e)
{
	struct err busy = ERR_INIT;
	auto_lock lock = -1;
	bool used = true;

	if (layer_lock(h, project, name, false, &lock, &busy) < 0)
		return 0;
	if (is_used(name, &used, arg, e) < 0)
		return -1;
	return used ? 0 : layer_remove(h, project, name, later, e);
}

int layer_prune(const struct home *h, int64_t project, layer_used_fn *is_used, void *arg, bool all,
	bool later, struct err *e)
{
	auto_strvec names = STRVEC_INIT;
	auto_fd place = -1;
	auto_str keep = NULL;

	if (layer_list(h, project, false, &names, e) < 0 || layer_place(h, project, &place, e) < 0)
		return -1;
	keep = all ? NULL : newest(place, &names);
	for (size_t i = 0; i < names.n; i++)
		if (!(keep && !strcmp(keep, names.v[i])) &&
			remove_if_unused(h, project, names.v[i], is_used, arg, later, e) < 0)
			return -1;
	drop_logs(place);
	return sweep(h, project, place, later, e);
}

static bool is_later(const struct timespec *a, const struct timespec *b)
{
	return a->tv_sec != b->tv_sec ? a->tv_sec > b->tv_sec : a->tv_nsec > b->tv_nsec;
}

static enum tree_next look_at_entry(const struct tree_entry *t, void *arg, struct err *e)
{
	if (!t->closed && !is_later(&t->st.st_ctim, arg))
		return TREE_ON;
	err_set(e, ERR_CONFLICT, "touched");
	return TREE_STOP;
}

/* The change time of an inode cannot be set back. */
static bool part_was_touched(int layer, const char *part, struct timespec *last)
{
	auto_fd dir = openat(layer, part, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	struct err touched = ERR_INIT;
	struct stat top;

	return dir < 0 || fstat(dir, &top) < 0 || is_later(&top.st_ctim, last) ||
	       tree_walk(dir, look_at_entry, last, &touched) < 0;
}

bool layer_was_touched(const struct home *h, int64_t project, const char *name)
{
	auto_str path = xasprintf("layers/%lld/%s", (long long)project, name);
	auto_fd dir = openat(h->fd, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	struct stat last;

	if (dir < 0 || fstatat(dir, "roots", &last, AT_SYMLINK_NOFOLLOW) < 0)
		return true;
	return part_was_touched(dir, "tree", &last.st_ctim) ||
	       (!faccessat(dir, LAYER_CACHES, F_OK, AT_SYMLINK_NOFOLLOW) &&
		       part_was_touched(dir, LAYER_CACHES, &last.st_ctim));
}
