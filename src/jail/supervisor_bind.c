#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/path.h"
#include "jail/supervisor_parts.h"
#include "sys/fd.h"

/* Binds a name in one of the task's directories. The directory is pinned. If the name exists, also as a link,
 * bind fails and does not follow it. */
static int bind_path(const struct call *c, int sock, const char *path)
{
	struct sockaddr_un un = { .sun_family = AF_UNIX };
	const char *name = path_base(path);
	char dir[sizeof(un.sun_path) + 1], where[PATH_MAX], own[OWN_FD_MAX];
	auto_fd pinned = -1;

	if (!*name || !strcmp(name, ".") || !strcmp(name, ".."))
		return -EADDRINUSE;
	snprintf(dir, sizeof(dir), "%.*s", (int)(name - path), path);
	pinned = supervisor_pin(c, AT_FDCWD, *dir ? dir : ".", 0);
	if (pinned < 0)
		return fd_steal(&pinned);
	if (supervisor_where(pinned, where) < 0 || !supervisor_writable(c->s, where))
		return -EACCES;
	supervisor_own_fd(pinned, own);
	if ((size_t)snprintf(un.sun_path, sizeof(un.sun_path), "%s/%s", own, name) >= sizeof(un.sun_path))
		return -ENAMETOOLONG;
	return bind(sock, (struct sockaddr *)&un, sizeof(un)) < 0 ? -errno : 0;
}

/* Abstract names, and the automatic one for an empty address, belong to the whole machine. */
static int bind_unix(const struct call *c, int sock, const struct sockaddr_storage *at, socklen_t len)
{
	const struct sockaddr_un *un = (const struct sockaddr_un *)at;
	const size_t begin = offsetof(struct sockaddr_un, sun_path);
	char path[sizeof(un->sun_path) + 1] = "";

	if (len < sizeof(un->sun_family) || len > sizeof(*un) || un->sun_family != AF_UNIX)
		return -EINVAL;
	if (len <= begin || !un->sun_path[0])
		return -EACCES;
	memcpy(path, un->sun_path, len - begin);
	return bind_path(c, sock, path);
}

int supervisor_bind(const struct call *c)
{
	int len = call_int(c, 2), domain, rc;
	socklen_t size = sizeof(domain);
	struct sockaddr_storage at = { 0 };
	auto_fd sock = -1;

	if (len < 0 || (size_t)len > sizeof(at))
		return -EINVAL;
	rc = caller_read(c, call_arg(c, 1), &at, (size_t)len);
	if (rc < 0)
		return rc;
	sock = caller_fd(c, call_int(c, 0));
	if (sock < 0)
		return fd_steal(&sock);
	rc = caller_waits(c);
	if (rc < 0)
		return rc;
	if (getsockopt(sock, SOL_SOCKET, SO_DOMAIN, &domain, &size) < 0)
		return -errno;
	if (domain == AF_UNIX)
		return bind_unix(c, sock, &at, (socklen_t)len);
	if (!c->s->inet)
		return -EACCES;
	return bind(sock, (struct sockaddr *)&at, (socklen_t)len) < 0 ? -errno : 0;
}
