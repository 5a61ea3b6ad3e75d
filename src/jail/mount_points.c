/*
 * Mount points and files in the new root. A mount point may be in a directory that an agent could write to
 * before (its home, its /tmp). So no link is followed there, and what is in the way is renamed, not removed.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/path.h"
#include "jail/steps.h"
#include "sys/fd.h"
#include "sys/linux.h"

/* Whether an agent could have written to path: the innermost row around it tells. */
static bool is_agents(const struct entering *in, const char *path)
{
	const struct jail_row *around = NULL;

	for (size_t i = 0; i < in->row; i++)
		if (path_within(path, in->j->rows[i].target))
			around = &in->j->rows[i];
	if (!around || around->kind == JAIL_OVERLAY || around->kind == JAIL_CACHE)
		return around != NULL;
	return (around->kind == JAIL_BIND || around->kind == JAIL_TMPFS) && around->flags & JAIL_WRITE;
}

/* Whether what is in the way may be moved; if not, errno is EEXIST. */
static bool may_clear(const struct entering *in, const char *path)
{
	errno = EEXIST;
	return !(in->j->rows[in->row].flags & JAIL_OPTIONAL) && is_agents(in, path);
}

static int move_aside(const struct entering *in, int dir, const char *path)
{
	const char *name = path_base(path);

	if (!may_clear(in, path))
		return -1;
	for (unsigned n = 0; n < 10000; n++) {
		char aside[256];

		snprintf(aside, sizeof(aside), "%.200s.garth-moved-%u", name, n);
		if (!renameat2(dir, name, dir, aside, RENAME_NOREPLACE))
			return 0;
		if (errno != EEXIST)
			return -1;
	}
	return -1;
}

static int make(int dir, const char *name, bool is_dir)
{
	return is_dir ? mkdirat(dir, name, 0755) : mknodat(dir, name, S_IFREG | 0644, 0);
}

/* A directory, or a file to mount a file over (a FIFO will do, because it is never opened). */
static int make_or_find(const struct entering *in, int dir, const char *path, bool is_dir)
{
	const char *name = path_base(path);
	struct stat st;

	if (!make(dir, name, is_dir))
		return 0;
	if (errno != EEXIST || fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return -1;
	if (!S_ISLNK(st.st_mode) && S_ISDIR(st.st_mode) == is_dir)
		return 0;
	return move_aside(in, dir, path) < 0 ? -1 : make(dir, name, is_dir);
}

/* Opens a directory and creates it with its missing parents; "" is the root. Recurses once per component. */
static int open_dir(const struct entering *in, const char *path)
{
	int fd = open_beneath(in->root, *path ? path + 1 : path, O_PATH | O_DIRECTORY, 0);
	auto_fd holder = -1;
	auto_str above = NULL;

	if (fd >= 0 || !*path || (errno != ENOENT && errno != ENOTDIR && errno != ELOOP))
		return fd;
	above = xstrndup(path, (size_t)(path_base(path) - path - 1));
	holder = open_dir(in, above);
	if (holder < 0 || make_or_find(in, holder, path, true) < 0)
		return -1;
	return open_beneath(holder, path_base(path), O_PATH | O_DIRECTORY, 0);
}

/* The directory that contains path. It is cached until the next call, because consecutive rows often share
 * it. */
static int holder_of(struct entering *in, const char *path)
{
	size_t len = (size_t)(path_base(path) - path - 1);

	if (in->holder_path && strlen(in->holder_path) == len && !memcmp(in->holder_path, path, len))
		return in->holder_fd;
	free(in->holder_path);
	in->holder_path = xstrndup(path, len);
	fd_closep(&in->holder_fd);
	in->holder_fd = open_dir(in, in->holder_path);
	if (in->holder_fd < 0)
		free(steal_ptr(in->holder_path));
	return in->holder_fd;
}

int place_mount(struct entering *in, const char *path, bool is_dir, struct place *ret, struct err *e)
{
	int dir = holder_of(in, path);

	if (dir < 0 || make_or_find(in, dir, path, is_dir) < 0)
		return err_sys(e, "no place for %s", path);
	*ret = (struct place){ dir, path_base(path) };
	return 0;
}

/* Removes what the last entering created there. */
static int clear(const struct entering *in, int dir, const char *path)
{
	struct stat st;

	if (fstatat(dir, path_base(path), &st, AT_SYMLINK_NOFOLLOW) < 0 || !may_clear(in, path))
		return -1;
	return S_ISDIR(st.st_mode) ? move_aside(in, dir, path) : unlinkat(dir, path_base(path), 0);
}

static int new_file(int dir, const char *name, mode_t mode)
{
	return openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
}

int place_data(
	struct entering *in, const char *path, const void *data, size_t len, mode_t mode, struct err *e)
{
	int dir = holder_of(in, path);
	auto_fd fd = dir < 0 ? -1 : new_file(dir, path_base(path), mode);

	if (dir >= 0 && fd < 0 && errno == EEXIST && !clear(in, dir, path))
		fd = new_file(dir, path_base(path), mode);
	if (fd < 0 || write_full(fd, data, len) < 0)
		return err_sys(e, "cannot write %s", path);
	return 0;
}

int place_link(struct entering *in, const char *path, const char *to, struct err *e)
{
	int dir = holder_of(in, path);

	if (dir >= 0 && !symlinkat(to, dir, path_base(path)))
		return 0;
	if (dir >= 0 && errno == EEXIST && !clear(in, dir, path) && !symlinkat(to, dir, path_base(path)))
		return 0;
	return err_sys(e, "cannot link %s", path);
}
