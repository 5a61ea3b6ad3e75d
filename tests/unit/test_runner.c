/* G1, G6: commands inside, whose output is a claim. */
#include "fake_inside.h"

#include <fcntl.h>

#include "jail/runner.h"

static void command(struct order_cmd *c, const char *script)
{
	*c = (struct order_cmd){ .cwd = xstrdup("/") };
	strvec_pushl(&c->argv, "/bin/sh", "-c", script, NULL);
	strvec_push(&c->env, "PATH=/usr/bin:/bin");
}

static int run(struct runner *c, const char *script, const char *input, struct buf *out, struct buf *errtext,
	unsigned seconds, int *ret_code, struct err *e)
{
	auto_order_cmd cmd = { 0 };
	auto_buf in = BUF_SMALL;

	command(&cmd, script);
	if (input)
		buf_addstr(&in, input);
	return runner_run(c, &cmd, input ? &in : NULL, out, errtext, seconds, ret_code, e);
}

static int begin(struct runner *c, const char *script, uint32_t *ret_id)
{
	auto_order_cmd cmd = { 0 };
	auto_fd null = open("/dev/null", O_RDWR | O_CLOEXEC);
	struct err e = ERR_INIT;

	command(&cmd, script);
	return runner_start(c, &cmd, (int[3]){ null, null, null }, ret_id, &e);
}

static void runs_feeds_and_collects(void **state)
{
	auto_buf out = BUF_SMALL, errtext = BUF_SMALL;
	struct err e = ERR_INIT;
	struct fake_inside in = { 0 };
	int code = -1;

	(void)state;
	inside_start(&in);
	struct runner c = RUNNER_INIT(in.orders);
	assert_int_equal(run(&c, "cat; echo bad >&2; exit 3", "words", &out, &errtext, 10, &code, &e), 0);
	assert_int_equal(code, 3);
	assert_string_equal(buf_str(&out), "words");
	assert_string_equal(buf_str(&errtext), "bad\n");
	assert_int_equal(run(&c, "kill -9 $$", NULL, NULL, NULL, 10, &code, &e), 0);
	assert_int_equal(code, 137);
	/* more than a pipe holds */
	struct buf large = BUF_INIT(4 << 20);
	assert_int_equal(run(&c, "head -c 3000000 /dev/zero", NULL, &large, NULL, 20, &code, &e), 0);
	assert_int_equal(large.len, 3000000);
	buf_release(&large);
	inside_end(&in);
}

static void limits_hold(void **state)
{
	auto_buf out = BUF_INIT(1000), errtext = BUF_INIT(1000);
	struct err e = ERR_INIT;
	struct fake_inside in = { 0 };
	int code;

	(void)state;
	inside_start(&in);
	struct runner c = RUNNER_INIT(in.orders);
	assert_int_equal(run(&c, "cat /dev/zero", NULL, &out, NULL, 10, &code, &e), -1);
	assert_non_null(strstr(e.msg, "printed more than 1000"));
	assert_int_equal(run(&c, "exec sleep 100", NULL, &out, NULL, 1, &code, &e), -1);
	assert_non_null(strstr(e.msg, "took longer than 1"));
	/* an endless stream of errors does not stop the time limit */
	assert_int_equal(run(&c, "exec cat /dev/zero >&2", NULL, NULL, &errtext, 1, &code, &e), -1);
	assert_non_null(strstr(e.msg, "took longer than 1"));
	/* a process that keeps the pipe open is not waited for */
	assert_int_equal(run(&c, "sleep 5 & echo done", NULL, &out, NULL, 10, &code, &e), 0);
	assert_non_null(strstr(buf_str(&out), "done"));
	inside_end(&in);
}

static void what_cannot_be_run_says_why(void **state)
{
	auto_order_cmd cmd = { .cwd = xstrdup("/") };
	struct err e = ERR_INIT;
	struct fake_inside in = { 0 };
	int code;

	(void)state;
	inside_start(&in);
	struct runner c = RUNNER_INIT(in.orders);
	strvec_push(&cmd.argv, "/nonexistent/git");
	assert_int_equal(runner_run(&c, &cmd, NULL, NULL, NULL, 10, &code, &e), -1);
	assert_int_equal(e.kind, ERR_FAILED);
	assert_non_null(strstr(e.msg, "cannot run it"));
	inside_end(&in);
}

static void ends_may_come_in_any_order(void **state)
{
	struct err e = ERR_INIT;
	uint32_t slow, quick;
	struct fake_inside in = { 0 };
	int code;

	(void)state;
	inside_start(&in);
	struct runner c = RUNNER_INIT(in.orders);
	assert_int_equal(begin(&c, "sleep 0.3; exit 4", &slow), 0);
	assert_int_equal(begin(&c, "exit 5", &quick), 0);
	assert_int_equal(runner_wait(&c, slow, 10, &code, &e), 0);
	assert_int_equal(code, 4);
	assert_int_equal(runner_wait(&c, quick, 10, &code, &e), 0);
	assert_int_equal(code, 5);
	assert_int_equal(runner_wait(&c, quick, 10, &code, &e), -1);
	inside_end(&in);
}

static void the_killed_give_their_place_back(void **state)
{
	struct fake_inside in = { 0 };
	uint32_t id;

	(void)state;
	inside_start(&in);
	struct runner c = RUNNER_INIT(in.orders);
	for (int i = 0; i < 3 * RUNNER_RUNS_MAX; i++) {
		assert_int_equal(begin(&c, "exec sleep 100", &id), 0);
		runner_kill(&c, id);
	}
	for (int i = 0; i < RUNNER_RUNS_MAX; i++)
		assert_int_equal(begin(&c, "exec sleep 100", &id), 0);
	assert_int_equal(begin(&c, "exec sleep 100", &id), -1);
	inside_end(&in);
}

static size_t open_fds(void)
{
	size_t n = 0;

	for (int fd = 0; fd < 256; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

static void say(int fd, uint32_t type, uint32_t id, int value, int passed)
{
	struct order_msg m = { .type = type, .id = id, .value = value };

	memset(&m.err.msg, 'x', sizeof(m.err.msg));
	assert_int_equal(
		sock_send(fd, &m, sizeof(m), (int[4]){ passed, passed, passed, passed }, passed < 0 ? 0 : 4),
		0);
}

/* The test plays the other end. */
static void nonsense_is_passed_over(void **state)
{
	auto_fd null = open("/dev/null", O_RDWR | O_CLOEXEC);
	struct err e = ERR_INIT;
	size_t before;
	uint32_t id;
	int pair[2], code;

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
	struct runner c = RUNNER_INIT(pair[0]);
	assert_int_equal(begin(&c, "true", &id), 0);
	before = open_fds();
	say(pair[1], 0, id, 0, null);
	say(pair[1], 4711, id, 0, null);
	say(pair[1], ORDER_READY, id, 0, null);
	say(pair[1], ORDER_EXITED, id + 1, 0, null);
	say(pair[1], ORDER_EXITED, 0, 0, null);
	assert_int_equal(send(pair[1], "short", 5, 0), 5);
	say(pair[1], ORDER_STARTED, id, 0, null);
	say(pair[1], ORDER_EXITED, id, 7 << 8, null);
	say(pair[1], ORDER_EXITED, id, 9 << 8, null);
	assert_int_equal(runner_wait(&c, id, 5, &code, &e), 0);
	assert_int_equal(code, 7);
	/* the last one is still unread */
	assert_int_equal(open_fds(), before);
	assert_int_equal(begin(&c, "true", &id), 0);
	say(pair[1], ORDER_NOT_STARTED, id, 1, null);
	assert_int_equal(runner_wait(&c, id, 5, &code, &e), -1);
	assert_int_equal(strspn(e.msg, "x"), strlen(e.msg));
	assert_int_equal(open_fds(), before);
	close(pair[0]);
	close(pair[1]);
}

static void a_jail_that_is_gone_is_an_error(void **state)
{
	struct err e = ERR_INIT;
	uint32_t id;
	int pair[2], code;

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
	struct runner c = RUNNER_INIT(pair[0]);
	assert_int_equal(begin(&c, "true", &id), 0);
	close(pair[1]);
	assert_int_equal(runner_wait(&c, id, 5, &code, &e), -1);
	assert_non_null(strstr(e.msg, "gone"));
	assert_int_equal(begin(&c, "true", &id), -1);
	close(pair[0]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(runs_feeds_and_collects),
		cmocka_unit_test(limits_hold),
		cmocka_unit_test(what_cannot_be_run_says_why),
		cmocka_unit_test(ends_may_come_in_any_order),
		cmocka_unit_test(the_killed_give_their_place_back),
		cmocka_unit_test(nonsense_is_passed_over),
		cmocka_unit_test(a_jail_that_is_gone_is_an_error),
	};

	signal(SIGPIPE, SIG_IGN);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
