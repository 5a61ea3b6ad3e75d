#include "sys/sock.h"

#include <errno.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "sys/fd.h"

#define MAX_PASSED 4

/* /proc/self/fd/N/name fits into an address, however long the directory's path is. */
static int address(int dir, const char *name, struct sockaddr_un *a, struct err *e)
{
	int n;

	*a = (struct sockaddr_un){ .sun_family = AF_UNIX };
	n = snprintf(a->sun_path, sizeof(a->sun_path), "/proc/self/fd/%d/%s", dir, name);
	if (n < 0 || (size_t)n >= sizeof(a->sun_path))
		return err_set(e, ERR_FAILED, "socket name '%s' is too long", name);
	return 0;
}

int sock_listen(int dir, const char *name, int *ret_fd, struct err *e)
{
	auto_fd fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	struct sockaddr_un a;

	if (address(dir, name, &a, e) < 0)
		return -1;
	unlinkat(dir, name, 0);
	if (fd < 0 || bind(fd, (struct sockaddr *)&a, sizeof(a)) < 0 || listen(fd, 64) < 0)
		return err_sys(e, "cannot listen on '%s'", name);
	*ret_fd = fd_steal(&fd);
	return 0;
}

int sock_connect(int dir, const char *name, int *ret_fd, struct err *e)
{
	auto_fd fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct sockaddr_un a;

	if (address(dir, name, &a, e) < 0)
		return -1;
	if (fd < 0)
		return err_sys(e, "cannot make a socket");
	if (connect(fd, (struct sockaddr *)&a, sizeof(a)) < 0) {
		err_sys(e, "cannot connect to '%s'", name);
		if (e->sys == ENOENT || e->sys == ECONNREFUSED)
			e->kind = ERR_NOTFOUND;
		return -1;
	}
	*ret_fd = fd_steal(&fd);
	return 0;
}

uid_t sock_peer(int fd)
{
	struct ucred c;
	socklen_t len = sizeof(c);

	return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &c, &len) < 0 ? (uid_t)-1 : c.uid;
}

int sock_send(int fd, const void *data, size_t len, const int *fds, size_t nfds)
{
	union {
		char bytes[CMSG_SPACE(sizeof(int) * MAX_PASSED)];
		struct cmsghdr align;
	} control = { 0 };
	struct iovec iov = { (void *)data, len };
	struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1 };

	if (nfds > MAX_PASSED) {
		errno = EINVAL;
		return -1;
	}
	if (nfds) {
		struct cmsghdr *c;

		m.msg_control = control.bytes;
		m.msg_controllen = (socklen_t)CMSG_SPACE(sizeof(int) * nfds);
		c = CMSG_FIRSTHDR(&m);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = (socklen_t)CMSG_LEN(sizeof(int) * nfds);
		memcpy(CMSG_DATA(c), fds, sizeof(int) * nfds);
	}
	for (;;) {
		ssize_t n = sendmsg(fd, &m, MSG_NOSIGNAL);

		if (n < 0 && errno != EINTR)
			return -1;
		if (n < 0)
			continue;
		if ((size_t)n >= iov.iov_len)
			return 0;
		/* a stream may accept a part of the data; the descriptors went with that part */
		iov.iov_base = (char *)iov.iov_base + n;
		iov.iov_len -= (size_t)n;
		m.msg_control = NULL;
		m.msg_controllen = 0;
	}
}

ssize_t sock_recv(int fd, void *data, size_t len, int *fds, size_t *nfds)
{
	union {
		char bytes[CMSG_SPACE(sizeof(int) * MAX_PASSED)];
		struct cmsghdr align;
	} control;
	struct iovec iov = { data, len };
	struct msghdr m = { .msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = control.bytes,
		.msg_controllen = sizeof(control.bytes) };
	size_t room = nfds ? *nfds : 0, got = 0;
	ssize_t n;

	do
		n = recvmsg(fd, &m, MSG_CMSG_CLOEXEC);
	while (n < 0 && errno == EINTR);
	if (nfds)
		*nfds = 0;
	if (n < 0)
		return -1;
	for (struct cmsghdr *c = CMSG_FIRSTHDR(&m); c; c = CMSG_NXTHDR(&m, c)) {
		size_t count;

		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
			continue;
		count = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
		for (size_t i = 0; i < count; i++) {
			int passed;

			memcpy(&passed, CMSG_DATA(c) + i * sizeof(int), sizeof(int));
			if (got < room)
				fds[got++] = passed;
			else
				close(passed);
		}
	}
	if (nfds)
		*nfds = got;
	return n;
}
