#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>
#include <utime.h>

#include "jail/supervisor_parts.h"
#include "sys/fd.h"

#define KNOWN_FLAGS (AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH)

/* Pins the file at the caller's path, if it may be changed. */
static int pin_writable(const struct call *c, int at, uint64_t path_at, int flags)
{
	char path[PATH_MAX];
	auto_fd fd = -1;
	int rc;

	if (flags & ~KNOWN_FLAGS)
		return -EINVAL;
	rc = caller_string(c, path_at, path);
	if (rc < 0)
		return rc;
	fd = supervisor_pin(c, at, path, flags);
	if (fd < 0)
		return fd_steal(&fd);
	if (supervisor_where(fd, path) < 0 || !supervisor_writable(c->s, path))
		return -EPERM;
	return fd_steal(&fd);
}

/* A copy of the caller's descriptor, if its file may be changed: Landlock allowed it to be opened for
 * writing, or it is in a writable directory. The filter has refused the access mode 3. */
static int take_writable(const struct call *c, int n)
{
	char path[PATH_MAX];
	auto_fd fd = caller_fd(c, n);
	int rc = fd < 0 ? fd_steal(&fd) : caller_waits(c), flags;
	struct stat st;

	if (rc < 0)
		return rc;
	flags = fcntl(fd, F_GETFL);
	if (flags < 0 || flags & O_PATH)
		return -EBADF;
	if ((flags & O_ACCMODE) != O_WRONLY && (flags & O_ACCMODE) != O_RDWR &&
		(supervisor_where(fd, path) < 0 || !supervisor_writable(c->s, path)))
		return -EPERM;
	/* a terminal, which was given to the command and is one of the host's files */
	if (fstat(fd, &st) < 0 || S_ISCHR(st.st_mode))
		return -EPERM;
	return fd_steal(&fd);
}

/* No setuid programs, which would run as their owner for anybody who starts them outside. The first filter
 * forbids it too. */
static int check_mode(mode_t mode)
{
	return mode & S_ISUID ? -EPERM : 0;
}

static int change_mode(const struct call *c, int at, uint64_t path_at, mode_t mode, int flags)
{
	auto_fd fd = pin_writable(c, at, path_at, flags);
	char name[OWN_FD_MAX];
	struct stat st;

	if (fd < 0)
		return fd_steal(&fd);
	if (check_mode(mode) < 0)
		return -EPERM;
	if (fstat(fd, &st) < 0)
		return -errno;
	if (S_ISLNK(st.st_mode))
		return -EOPNOTSUPP;
	supervisor_own_fd(fd, name);
	return chmod(name, mode & 07777) < 0 ? -errno : 0;
}

int supervisor_chmod(const struct call *c)
{
	return change_mode(c, AT_FDCWD, call_arg(c, 0), (mode_t)call_arg(c, 1), 0);
}

int supervisor_fchmodat(const struct call *c)
{
	return change_mode(c, call_int(c, 0), call_arg(c, 1), (mode_t)call_arg(c, 2), 0);
}

int supervisor_fchmodat2(const struct call *c)
{
	return change_mode(c, call_int(c, 0), call_arg(c, 1), (mode_t)call_arg(c, 2), call_int(c, 3));
}

int supervisor_fchmod(const struct call *c)
{
	auto_fd fd = take_writable(c, call_int(c, 0));
	mode_t mode = (mode_t)call_arg(c, 1);

	if (fd < 0)
		return fd_steal(&fd);
	if (check_mode(mode) < 0)
		return -EPERM;
	return fchmod(fd, mode & 07777) < 0 ? -errno : 0;
}

int supervisor_fchown(const struct call *c)
{
	auto_fd fd = take_writable(c, call_int(c, 0));

	if (fd < 0)
		return fd_steal(&fd);
	return fchown(fd, (uid_t)call_arg(c, 1), (gid_t)call_arg(c, 2)) < 0 ? -errno : 0;
}

/* times NULL: now. path_at 0: the descriptor itself, as utimensat and futimesat define it. */
static int change_times(
	const struct call *c, int at, uint64_t path_at, const struct timespec *times, int flags)
{
	auto_fd fd = -1;

	if (!path_at && at == AT_FDCWD)
		return -EFAULT;
	if (!path_at && flags)
		return -EINVAL;
	fd = path_at ? pin_writable(c, at, path_at, flags) : take_writable(c, at);
	if (fd < 0)
		return fd_steal(&fd);
	return utimensat(fd, "", times, AT_EMPTY_PATH) < 0 ? -errno : 0;
}

int supervisor_utimensat(const struct call *c)
{
	struct timespec times[2];
	uint64_t times_at = call_arg(c, 2);
	int rc = times_at ? caller_read(c, times_at, times, sizeof(times)) : 0;

	if (rc < 0)
		return rc;
	return change_times(c, call_int(c, 0), call_arg(c, 1), times_at ? times : NULL, call_int(c, 3));
}

static int change_timevals(const struct call *c, int at, uint64_t path_at, uint64_t times_at)
{
	struct timeval given[2];
	struct timespec times[2];
	int rc = times_at ? caller_read(c, times_at, given, sizeof(given)) : 0;

	if (rc < 0)
		return rc;
	for (int i = 0; times_at && i < 2; i++) {
		if (given[i].tv_usec < 0 || given[i].tv_usec >= 1000000)
			return -EINVAL;
		times[i] = (struct timespec){ given[i].tv_sec, given[i].tv_usec * 1000 };
	}
	return change_times(c, at, path_at, times_at ? times : NULL, 0);
}

int supervisor_utimes(const struct call *c)
{
	return call_arg(c, 0) ? change_timevals(c, AT_FDCWD, call_arg(c, 0), call_arg(c, 1)) : -EFAULT;
}

int supervisor_futimesat(const struct call *c)
{
	return change_timevals(c, call_int(c, 0), call_arg(c, 1), call_arg(c, 2));
}

int supervisor_utime(const struct call *c)
{
	uint64_t times_at = call_arg(c, 1);
	struct utimbuf given = { 0 };
	int rc = times_at ? caller_read(c, times_at, &given, sizeof(given)) : 0;
	struct timespec times[2] = { { given.actime, 0 }, { given.modtime, 0 } };

	if (rc < 0)
		return rc;
	return change_times(c, AT_FDCWD, call_arg(c, 0), times_at ? times : NULL, 0);
}
