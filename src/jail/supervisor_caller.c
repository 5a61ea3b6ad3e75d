#include <errno.h>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "jail/supervisor_parts.h"
#include "sys/fd.h"

/* The smallest page size. */
#define PAGE         4096u
#define PIDFD_THREAD ((unsigned)O_EXCL) /* since 6.9 */

/* Reads up to the end of a page, because the next one may not be mapped. Returns the number of bytes. */
static ssize_t read_some(const struct call *c, uint64_t from, char *to, size_t len)
{
	size_t rest = PAGE - from % PAGE;
	struct iovec here = { to, len < rest ? len : rest };
	struct iovec there = { (void *)(uintptr_t)from, here.iov_len };
	ssize_t n = process_vm_readv((pid_t)c->req->pid, &here, 1, &there, 1, 0);

	if (n < 0)
		return -errno;
	return n ? n : -EFAULT;
}

int caller_read(const struct call *c, uint64_t from, void *to, size_t len)
{
	for (size_t done = 0; done < len;) {
		ssize_t n = read_some(c, from + done, (char *)to + done, len - done);

		if (n < 0)
			return (int)n;
		done += (size_t)n;
	}
	return 0;
}

int caller_string(const struct call *c, uint64_t from, char to[PATH_MAX])
{
	for (size_t done = 0; done < PATH_MAX;) {
		ssize_t n = read_some(c, from + done, to + done, PATH_MAX - done);

		if (n < 0)
			return (int)n;
		if (memchr(to + done, '\0', (size_t)n))
			return 0;
		done += (size_t)n;
	}
	return -ENAMETOOLONG;
}

int caller_place(const struct call *c, int fd)
{
	char link[64];
	int place;

	if (fd == AT_FDCWD)
		snprintf(link, sizeof(link), "/proc/%u/cwd", c->req->pid);
	else
		snprintf(link, sizeof(link), "/proc/%u/fd/%d", c->req->pid, fd);
	place = open(link, O_PATH | O_CLOEXEC);
	if (place < 0)
		return errno == ENOENT && fd != AT_FDCWD ? -EBADF : -errno;
	return place;
}

/* The pid of the caller's process; 0 if it is not visible. */
static pid_t process_of(const struct call *c)
{
	char path[64], status[1024], *line;
	auto_fd fd = -1;
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%u/status", c->req->pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : read_full(fd, status, sizeof(status) - 1);
	if (n < 0)
		return 0;
	status[n] = '\0';
	/* the process's name is in the first line, and the kernel escapes line breaks in it */
	line = strstr(status, "\nTgid:");
	return line ? (pid_t)strtol(line + strlen("\nTgid:"), NULL, 10) : 0;
}

int caller_fd(const struct call *c, int fd)
{
	auto_fd pidfd = (int)syscall(SYS_pidfd_open, c->req->pid, PIDFD_THREAD);
	long got;

	if (pidfd < 0 && errno == EINVAL)
		pidfd = (int)syscall(SYS_pidfd_open, process_of(c), 0);
	if (pidfd < 0)
		return -errno;
	got = syscall(SYS_pidfd_getfd, pidfd, fd, 0);
	return got < 0 ? -errno : (int)got;
}

int caller_waits(const struct call *c)
{
	return ioctl(c->listener, SECCOMP_IOCTL_NOTIF_ID_VALID, &c->req->id) < 0 ? -errno : 0;
}
