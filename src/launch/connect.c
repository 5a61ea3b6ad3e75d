#include "connect.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

/* On loopback the answer comes at once, unless the server's queue is full. This process must not wait for
 * that, because other commands wait to be started. An unfinished connection is passed on: it succeeds or
 * fails later. */
static int connect_to(const struct sockaddr *to, socklen_t len)
{
	int fd = socket(to->sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), error = 0;
	struct pollfd p = { fd, POLLOUT, 0 };
	socklen_t size = sizeof(error);

	if (fd < 0 || !connect(fd, to, len))
		return fd;
	if (errno != EINPROGRESS)
		error = errno;
	else if (poll(&p, 1, 0) > 0)
		getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size);
	if (!error)
		return fd;
	close(fd);
	errno = error;
	return -1;
}

int connect_to_port(int port)
{
	const struct sockaddr_in v4 = { .sin_family = AF_INET,
		.sin_port = htons((uint16_t)port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	const struct sockaddr_in6 v6 = { .sin6_family = AF_INET6,
		.sin6_port = htons((uint16_t)port),
		.sin6_addr = IN6ADDR_LOOPBACK_INIT };
	int fd, saved;

	if (port <= 0 || port > 65535) {
		errno = EINVAL;
		return -1;
	}
	fd = connect_to((const struct sockaddr *)&v4, sizeof(v4));
	if (fd >= 0 || errno != ECONNREFUSED)
		return fd;
	saved = errno;
	/* some servers listen on "localhost" and mean ::1 */
	fd = connect_to((const struct sockaddr *)&v6, sizeof(v6));
	if (fd < 0)
		errno = saved;
	return fd;
}
