#include "listen.h"

#include <errno.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "sys/fd.h"

static int listen_at(const struct sockaddr *at, socklen_t len)
{
	auto_fd fd = socket(at->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int on = 1;

	if (fd < 0)
		return -1;
	if (at->sa_family == AF_INET6)
		setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof(on));
	if (bind(fd, at, len) < 0 || listen(fd, 128) < 0)
		return -1;
	return fd_steal(&fd);
}

int listen_v4(uint16_t port)
{
	const struct sockaddr_in at = {
		.sin_family = AF_INET, .sin_port = htons(port), .sin_addr = { htonl(INADDR_LOOPBACK) }
	};

	return listen_at((const struct sockaddr *)&at, sizeof(at));
}

int listen_both(uint16_t port, int fds[2])
{
	const struct sockaddr_in6 at = {
		.sin6_family = AF_INET6, .sin6_port = htons(port), .sin6_addr = IN6ADDR_LOOPBACK_INIT
	};

	fds[0] = listen_v4(port);
	if (fds[0] < 0)
		return -1;
	fds[1] = listen_at((const struct sockaddr *)&at, sizeof(at));
	if (fds[1] >= 0)
		return 2;
	/* another process has this port on ::1: then the port is taken */
	if (errno == EADDRINUSE) {
		fd_closep(&fds[0]);
		errno = EADDRINUSE;
		return -1;
	}
	return 1;
}
