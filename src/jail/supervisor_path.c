#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/path.h"
#include "jail/supervisor_parts.h"
#include "sys/fd.h"

/* Paths of a process's own descriptors. Resolved here, they would be the supervisor's. */
static const char *const own_fds[] = { "/proc/self/fd/", "/proc/thread-self/fd/", "/dev/fd/" };

/* Whether the path begins with one of the caller's descriptors; *rest is what follows the number. */
static bool begins_with_fd(const char *path, int *ret_fd, const char **rest)
{
	for (size_t i = 0; i < ARRAY_SIZE(own_fds); i++) {
		const char *number = path + strlen(own_fds[i]);
		size_t digits;

		if (strncmp(path, own_fds[i], strlen(own_fds[i])))
			continue;
		digits = strspn(number, "0123456789");
		if (!digits || digits > 9 || (number[digits] && number[digits] != '/'))
			return false;
		*ret_fd = (int)strtol(number, NULL, 10);
		*rest = number + digits;
		return true;
	}
	return false;
}

/* How to resolve a path. */
struct lookup {
	int at;           /* the caller's descriptor, or AT_FDCWD */
	const char *path; /* relative to it; "" for the descriptor itself */
};

static int lookup_begin(struct lookup *l, int at, const char *path, int flags)
{
	const char *rest;
	int fd;

	*l = (struct lookup){ at, path };
	if (!*path)
		return flags & AT_EMPTY_PATH ? 0 : -ENOENT;
	if (!begins_with_fd(path, &fd, &rest))
		return 0;
	/* the magic link itself is not a file that can be changed */
	if (!*rest && flags & AT_SYMLINK_NOFOLLOW)
		return -EPERM;
	*l = (struct lookup){ fd, rest };
	/* must not become an absolute path */
	if (*rest) {
		l->path += strspn(rest, "/");
		if (!*l->path)
			l->path = ".";
	}
	return 0;
}

static int open_path(int base, const char *path, int flags)
{
	struct open_how how = {
		.flags = O_PATH | O_CLOEXEC | (flags & AT_SYMLINK_NOFOLLOW ? O_NOFOLLOW : 0),
		.resolve = RESOLVE_NO_MAGICLINKS,
	};
	unsigned tries = 0;
	long fd;

	do
		fd = syscall(SYS_openat2, base, path, &how, sizeof(how));
	while (fd < 0 && (errno == EINTR || (errno == EAGAIN && ++tries < 64)));
	return fd < 0 ? -errno : (int)fd;
}

int supervisor_pin(const struct call *c, int at, const char *path, int flags)
{
	struct lookup l;
	auto_fd base = -1;
	int rc = lookup_begin(&l, at, path, flags);

	if (rc < 0)
		return rc;
	if (*l.path != '/') {
		base = caller_place(c, l.at);
		if (base < 0)
			return base;
	}
	rc = caller_waits(c);
	if (rc < 0)
		return rc;
	return *l.path ? open_path(base, l.path, flags) : fd_steal(&base);
}

void supervisor_own_fd(int fd, char to[OWN_FD_MAX])
{
	snprintf(to, OWN_FD_MAX, "/proc/self/fd/%d", fd);
}

int supervisor_where(int fd, char to[PATH_MAX])
{
	static const char deleted[] = " (deleted)";
	char link[OWN_FD_MAX];
	struct stat st;
	ssize_t n;

	supervisor_own_fd(fd, link);
	if (fstat(fd, &st) < 0 || !st.st_nlink)
		return -1;
	n = readlink(link, to, PATH_MAX);
	if (n <= 0 || n >= PATH_MAX || to[0] != '/')
		return -1;
	to[n] = '\0';
	/* a file whose real name ends like this is refused too */
	if ((size_t)n >= strlen(deleted) && !strcmp(to + n - strlen(deleted), deleted))
		return -1;
	return 0;
}

bool supervisor_writable(const struct supervisor *s, const char *path)
{
	for (const char *const *dir = s->writable; *dir; dir++)
		if (path_within(path, *dir))
			return true;
	return false;
}
