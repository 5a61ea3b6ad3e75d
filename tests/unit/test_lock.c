#include "scratch.h"

#include <signal.h>

#include "sys/lock.h"

static void test_held_and_free(void **state)
{
	struct scratch *s = *state;
	struct err e = ERR_INIT;
	int fd = -1, second = -1;

	assert_false(lock_is_held(s->fd, "l"));
	assert_false(there(s->fd, "l"));
	assert_int_equal(lock_take(s->fd, "l", false, &fd, &e), 0);
	assert_true(lock_is_held(s->fd, "l"));
	assert_int_equal(lock_take(s->fd, "l", false, &second, &e), -1);
	assert_int_equal(e.kind, ERR_BUSY);
	assert_int_equal(second, -1);
	assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
	close(fd);
	assert_false(lock_is_held(s->fd, "l"));
	assert_int_equal(lock_take(s->fd, "l", false, &fd, &e), 0);
	close(fd);
}

/* A child that takes the lock, says so, and waits to be killed. */
static pid_t holder(struct scratch *s)
{
	int p[2];
	pid_t pid;
	char c;

	assert_int_equal(pipe2(p, O_CLOEXEC), 0);
	pid = fork();
	if (!pid) {
		struct err e = ERR_INIT;
		int fd;

		if (lock_take(s->fd, "l", true, &fd, &e) < 0)
			_exit(1);
		write_full(p[1], "x", 1);
		pause();
		_exit(0);
	}
	close(p[1]);
	assert_int_equal(read_full(p[0], &c, 1), 1);
	close(p[0]);
	return pid;
}

static void test_dies_with_its_holder(void **state)
{
	struct scratch *s = *state;
	pid_t pid = holder(s);
	struct err e = ERR_INIT;
	int fd;

	assert_true(lock_is_held(s->fd, "l"));
	kill(pid, SIGKILL);
	assert_int_equal(lock_take(s->fd, "l", true, &fd, &e), 0);
	close(fd);
	waitpid(pid, NULL, 0);
}

static void test_a_fork_shares_it(void **state)
{
	struct scratch *s = *state;
	struct err e = ERR_INIT;
	int fd, p[2];
	pid_t pid;

	assert_int_equal(lock_take(s->fd, "l", false, &fd, &e), 0);
	assert_int_equal(pipe2(p, O_CLOEXEC), 0);
	pid = fork();
	if (!pid) {
		char c;

		close(p[1]);
		_exit((int)read_full(p[0], &c, 1));
	}
	close(fd);
	assert_true(lock_is_held(s->fd, "l"));
	close(p[0]);
	close(p[1]);
	waitpid(pid, NULL, 0);
	assert_false(lock_is_held(s->fd, "l"));
}

/* Testing a lock does not take it, not even for a moment. */
static void test_asking_is_not_in_the_way(void **state)
{
	struct scratch *s = *state;
	struct err e = ERR_INIT;
	int fd, failed = 0;
	pid_t pid;

	assert_int_equal(lock_take(s->fd, "l", false, &fd, &e), 0);
	close(fd);
	pid = fork();
	if (!pid)
		for (;;)
			lock_is_held(s->fd, "l");
	for (int i = 0; i < 20000; i++) {
		if (lock_take(s->fd, "l", false, &fd, &e) < 0)
			failed++;
		else
			close(fd);
	}
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	assert_int_equal(failed, 0);
}

static void test_links_are_refused(void **state)
{
	struct scratch *s = *state;
	struct err e = ERR_INIT;
	int fd;

	assert_int_equal(symlinkat("target", s->fd, "l"), 0);
	assert_int_equal(lock_take(s->fd, "l", false, &fd, &e), -1);
	assert_int_equal(e.kind, ERR_FAILED);
	assert_false(there(s->fd, "target"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		scratch_test(test_held_and_free),
		scratch_test(test_dies_with_its_holder),
		scratch_test(test_a_fork_shares_it),
		scratch_test(test_asking_is_not_in_the_way),
		scratch_test(test_links_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
