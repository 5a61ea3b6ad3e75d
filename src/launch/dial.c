#include "dial.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

/* On loopback there is nothing to wait for, unless who listens has let its queue fill up. */
#define WAIT_USEC 300000

static int connect_to(const struct sockaddr *to, socklen_t len)
{
	const struct timeval wait = { .tv_usec = WAIT_USEC };
	int fd = socket(to->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0), saved;

	if (fd < 0)
		return -1;
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &wait, sizeof(wait));
	if (!connect(fd, to, len))
		return fd;
	saved = errno == EINPROGRESS || errno == EAGAIN ? ETIMEDOUT : errno;
	close(fd);
	errno = saved;
	return -1;
}

int dial(int port)
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
	/* some listen as "localhost" and mean ::1 by it */
	fd = connect_to((const struct sockaddr *)&v6, sizeof(v6));
	if (fd < 0)
		errno = saved;
	return fd;
}
