#include "egress/dial.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <unistd.h>

#include "sys/fd.h"

static void print_address(const struct addrinfo *a, char out[INET6_ADDRSTRLEN])
{
	if (getnameinfo(a->ai_addr, a->ai_addrlen, out, INET6_ADDRSTRLEN, NULL, 0, NI_NUMERICHOST))
		snprintf(out, INET6_ADDRSTRLEN, "?");
}

static int resolve(const struct host *h, struct addrinfo **ret, struct err *e)
{
	struct addrinfo hints = { .ai_family = AF_UNSPEC,
		.ai_socktype = SOCK_STREAM,
		.ai_flags = AI_NUMERICSERV | (h->is_address ? AI_NUMERICHOST : 0) };
	char port[8];
	int rc;

	snprintf(port, sizeof(port), "%u", h->port);
	rc = getaddrinfo(h->name, port, &hints, ret);
	return rc ? err_set(e, ERR_NOTFOUND, "%s cannot be found: %s", h->name, gai_strerror(rc)) : 0;
}

static int check(const struct strvec *list, const struct host *h, const struct addrinfo *all,
	char text[INET6_ADDRSTRLEN], struct err *e)
{
	for (const struct addrinfo *a = all; a; a = a->ai_next)
		if (!hosts_allow_address(list, h, a->ai_addr)) {
			print_address(a, text);
			return err_set(e, ERR_REFUSED, "%s leads to %s, which is not a public address",
				h->name, text);
		}
	return 0;
}

static int connect_to(const struct sockaddr *to, socklen_t to_len)
{
	auto_fd fd = socket(to->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	struct pollfd p = { fd, POLLOUT, 0 };
	int error = 0, on = 1;
	socklen_t len = sizeof(error);

	if (fd < 0)
		return -1;
	if (connect(fd, to, to_len) < 0 && errno != EINPROGRESS)
		return -1;
	if (poll(&p, 1, DIAL_SECONDS * 1000) <= 0) {
		errno = ETIMEDOUT;
		return -1;
	}
	if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &len) < 0 || error) {
		errno = error ? error : errno;
		return -1;
	}
	setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	return fd_steal(&fd);
}

int dial(const struct strvec *list, const struct host *h, int *ret, char address[INET6_ADDRSTRLEN],
	struct err *e)
{
	struct addrinfo *all = NULL;
	int fd = -1;

	address[0] = '\0';
	if (resolve(h, &all, e) < 0)
		return -1;
	if (check(list, h, all, address, e) < 0) {
		freeaddrinfo(all);
		return -1;
	}
	for (const struct addrinfo *a = all; a && fd < 0; a = a->ai_next) {
		fd = connect_to(a->ai_addr, a->ai_addrlen);
		print_address(a, address);
	}
	freeaddrinfo(all);
	if (fd < 0)
		return err_sys(e, "cannot connect to %s", h->name);
	*ret = fd;
	return 0;
}

int dial_loopback(
	const struct strvec *list, uint16_t port, int *ret, char address[INET6_ADDRSTRLEN], struct err *e)
{
	const struct sockaddr_in at4 = {
		.sin_family = AF_INET, .sin_port = htons(port), .sin_addr = { htonl(INADDR_LOOPBACK) }
	};
	const struct sockaddr_in6 at6 = {
		.sin6_family = AF_INET6, .sin6_port = htons(port), .sin6_addr = IN6ADDR_LOOPBACK_INIT
	};
	bool v4, v6;
	int fd = -1;

	address[0] = '\0';
	hosts_loopback(list, port, &v4, &v6);
	if (!v4 && !v6)
		return err_set(e, ERR_REFUSED, "localhost:%u is not on this task's list", port);
	if (v4) {
		fd = connect_to((const struct sockaddr *)&at4, sizeof(at4));
		snprintf(address, INET6_ADDRSTRLEN, "127.0.0.1");
	}
	if (fd < 0 && v6) {
		fd = connect_to((const struct sockaddr *)&at6, sizeof(at6));
		snprintf(address, INET6_ADDRSTRLEN, "::1");
	}
	if (fd < 0)
		return err_sys(e, "cannot connect to port %u of the host", port);
	*ret = fd;
	return 0;
}
