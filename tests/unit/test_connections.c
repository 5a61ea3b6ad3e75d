#include "scratch.h"

#include <arpa/inet.h>
#include <poll.h>
#include <sys/socket.h>

#include "base/alloc.h"
#include "sys/connections.h"
#include "sys/sock.h"

static int tcp_listener(struct sockaddr_in *at)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	socklen_t len = sizeof(*at);

	*at = (struct sockaddr_in){ .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	assert_int_equal(bind(fd, (struct sockaddr *)at, sizeof(*at)), 0);
	assert_int_equal(listen(fd, 16), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)at, &len), 0);
	return fd;
}

static void connect_tcp(int listener, const struct sockaddr_in *at, int *ret_out, int *ret_in)
{
	*ret_out = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_equal(connect(*ret_out, (const struct sockaddr *)at, sizeof(*at)), 0);
	*ret_in = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
	assert_true(*ret_in >= 0);
}

static bool is_closed(int fd)
{
	struct pollfd p = { fd, POLLIN | POLLRDHUP, 0 };

	return poll(&p, 1, 0) > 0;
}

/* Counts this listener's connections, not another's, nor the clients' ends. */
static void test_count(void **state)
{
	struct scratch *s = *state;
	struct sockaddr_in at, other;
	int tcp = tcp_listener(&at), second = tcp_listener(&other), unix_fd, a[2], b[2], c[2];
	struct connections of_first, of_second, of_unix;
	struct err e = ERR_INIT;

	assert_int_equal(sock_listen(s->fd, "l", &unix_fd, &e), 0);
	assert_int_equal(connections_init(&of_first, tcp) | connections_init(&of_second, second) |
				 connections_init(&of_unix, unix_fd),
		0);
	assert_int_equal(connections_count(&of_first), 0);
	connect_tcp(tcp, &at, &a[0], &a[1]);
	connect_tcp(tcp, &at, &b[0], &b[1]);
	assert_int_equal(sock_connect(s->fd, "l", &c[0], &e), 0);
	c[1] = accept4(unix_fd, NULL, NULL, SOCK_CLOEXEC);
	assert_int_equal(connections_count(&of_first), 2);
	assert_int_equal(connections_count(&of_second), 0);
	assert_int_equal(connections_count(&of_unix), 1);
	close(a[1]);
	assert_int_equal(connections_count(&of_first), 1);
	for (size_t i = 0; i < 2; i++)
		close(b[i]), close(c[i]);
	close(a[0]), close(tcp), close(second), close(unix_fd);
	assert_int_equal(connections_init(&of_first, -1), -1);
}

/* A new connection has the time that the sweep gives, one that was granted more has more, and time ends. */
static void test_sweep(void **state)
{
	struct sockaddr_in at;
	int tcp = tcp_listener(&at), a[2], b[2];
	struct connections c;

	(void)state;
	assert_int_equal(connections_init(&c, tcp), 0);
	connect_tcp(tcp, &at, &a[0], &a[1]);
	connect_tcp(tcp, &at, &b[0], &b[1]);
	connections_grant(&c, b[1], 100);
	connections_grant(&c, -1, 100);
	connections_grant(&c, CONNECTIONS_FDS, 100);
	connections_sweep(&c, 0);
	assert_false(is_closed(a[0]) || is_closed(b[0]));
	usleep(1100000);
	connections_sweep(&c, 0);
	assert_true(is_closed(a[0]));
	assert_false(is_closed(b[0]));
	/* another connection with the same number starts anew */
	close(a[0]), close(a[1]);
	connect_tcp(tcp, &at, &a[0], &a[1]);
	connections_sweep(&c, 100);
	assert_false(is_closed(a[0]));
	for (size_t i = 0; i < 2; i++)
		close(a[i]), close(b[i]);
	close(tcp);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		scratch_test(test_count),
		cmocka_unit_test(test_sweep),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
