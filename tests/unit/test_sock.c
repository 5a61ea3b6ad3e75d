#include "scratch.h"

#include <dirent.h>
#include <signal.h>
#include <sys/socket.h>

#include "base/alloc.h"
#include "sys/sock.h"

static int count_fds(void)
{
	DIR *d = opendir("/proc/self/fd");
	int n = 0;

	while (readdir(d))
		n++;
	closedir(d);
	return n;
}

static void test_listen_and_connect(void **state)
{
	struct scratch *s = *state;
	auto_fd listener = -1, there_ = -1, here = -1, again = -1;
	struct err e = ERR_INIT;

	assert_int_equal(sock_connect(s->fd, "s", &here, &e), -1);
	assert_int_equal(e.kind, ERR_NOTFOUND);
	assert_int_equal(sock_listen(s->fd, "s", &listener, &e), 0);
	assert_true(fcntl(listener, F_GETFL) & O_NONBLOCK);
	assert_true(fcntl(listener, F_GETFD) & FD_CLOEXEC);
	assert_int_equal(sock_connect(s->fd, "s", &here, &e), 0);
	there_ = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
	assert_true(there_ >= 0);
	assert_int_equal(sock_peer(there_), geteuid());
	assert_int_equal(sock_peer(0), (uid_t)-1);
	close(fd_steal(&listener));
	assert_int_equal(sock_connect(s->fd, "s", &again, &e), -1);
	assert_int_equal(e.kind, ERR_NOTFOUND);
	assert_int_equal(sock_listen(s->fd, "s", &listener, &e), 0);
	assert_int_equal(sock_connect(s->fd, "s", &again, &e), 0);
}

static void test_long_paths(void **state)
{
	struct scratch *s = *state;
	auto_str path = xasprintf("%0100d/%0100d", 1, 2);
	auto_str name = xasprintf("%0120d", 3);
	auto_fd dir = mkdirs_beneath(s->fd, path, 0700, -1, -1);
	auto_fd listener = -1, here = -1;
	struct err e = ERR_INIT;

	assert_int_equal(sock_listen(dir, "control", &listener, &e), 0);
	assert_int_equal(sock_connect(dir, "control", &here, &e), 0);
	assert_int_equal(sock_listen(dir, name, &listener, &e), -1);
	assert_non_null(strstr(e.msg, "too long"));
}

static void test_what_stood_there_is_replaced(void **state)
{
	struct scratch *s = *state;
	auto_fd listener = -1;
	struct err e = ERR_INIT;

	put(s->fd, "victim", "kept");
	assert_int_equal(symlinkat("victim", s->fd, "s"), 0);
	assert_int_equal(sock_listen(s->fd, "s", &listener, &e), 0);
	assert_content(s->fd, "victim", "kept");
}

static void test_descriptors(void **state)
{
	int pair[2], sent[2], got[2] = { -1, -1 };
	size_t n = 2;
	char text[8] = "";

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
	sent[0] = fd_of_bytes("a", "first", 5);
	sent[1] = fd_of_bytes("b", "second", 6);
	assert_int_equal(sock_send(pair[0], "hi", 2, sent, 2), 0);
	assert_int_equal(sock_recv(pair[1], text, sizeof(text), got, &n), 2);
	assert_string_equal(text, "hi");
	assert_int_equal(n, 2);
	assert_true(fcntl(got[1], F_GETFD) & FD_CLOEXEC);
	assert_int_equal(read_full(got[1], text, 6), 6);
	assert_memory_equal(text, "second", 6);
	for (int i = 0; i < 2; i++) {
		close(sent[i]);
		close(got[i]);
	}
	close(pair[0]);
	assert_int_equal(sock_recv(pair[1], text, sizeof(text), NULL, NULL), 0);
	close(pair[1]);
}

/* Unexpected descriptors are closed. */
static void test_unwanted_descriptors_are_closed(void **state)
{
	int pair[2], fds[4], got = -1, before;
	size_t n = 1;
	char c;

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
	for (int i = 0; i < 4; i++)
		fds[i] = pair[0];
	before = count_fds();
	assert_int_equal(sock_send(pair[0], "x", 1, fds, 4), 0);
	assert_int_equal(sock_recv(pair[1], &c, 1, NULL, NULL), 1);
	assert_int_equal(count_fds(), before);
	assert_int_equal(sock_send(pair[0], "x", 1, fds, 4), 0);
	assert_int_equal(sock_recv(pair[1], &c, 1, &got, &n), 1);
	assert_int_equal(n, 1);
	close(got);
	assert_int_equal(count_fds(), before);
	assert_int_equal(sock_send(pair[0], "x", 1, (int[5]){ 0, 0, 0, 0, 0 }, 5), -1);
	close(pair[0]);
	assert_int_equal(sock_send(pair[1], "x", 1, NULL, 0), -1);
	assert_int_equal(errno, EPIPE);
	close(pair[1]);
}

static void no_op(int sig)
{
	(void)sig;
}

/* A signal during a long message does not lose the rest of it. */
static void test_long_messages_arrive_whole(void **state)
{
	struct sigaction sa = { .sa_handler = no_op };
	size_t len = 4 << 20;
	char *data = xcalloc(1, len), *back = xcalloc(1, len);
	int pair[2], status;
	pid_t pid, parent = getpid();
	char c;

	(void)state;
	for (size_t i = 0; i < len; i++)
		data[i] = (char)(i * 31 >> 3);
	sigaction(SIGUSR1, &sa, NULL);
	alarm(30); /* the other side would wait for the rest for ever */
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
	pid = fork();
	if (!pid) {
		close(pair[0]);
		alarm(30);
		for (size_t i = 0; i < len; i += 65536) {
			kill(parent, SIGUSR1);
			if (read_full(pair[1], back + i, 65536) != 65536)
				_exit(1);
		}
		_exit(memcmp(data, back, len) != 0);
	}
	close(pair[1]);
	assert_int_equal(sock_send(pair[0], data, len, NULL, 0), 0);
	while (waitpid(pid, &status, 0) < 0)
		assert_int_equal(errno, EINTR);
	assert_int_equal(status, 0);
	assert_int_equal(read(pair[0], &c, 1), 0);
	alarm(0);
	close(pair[0]);
	free(data);
	free(back);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		scratch_test(test_listen_and_connect),
		scratch_test(test_long_paths),
		scratch_test(test_what_stood_there_is_replaced),
		cmocka_unit_test(test_descriptors),
		cmocka_unit_test(test_unwanted_descriptors_are_closed),
		cmocka_unit_test(test_long_messages_arrive_whole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
