#include "scratch.h"

#include <signal.h>
#include <time.h>

#include "base/alloc.h"
#include "base/strvec.h"
#include "sys/owner.h"
#include "sys/proc.h"

static char *const env[] = { (char *)"PATH=" PROC_PATH, (char *)"A=b", NULL };

static int run(const char *script, struct proc_spec p, const struct buf *in, struct buf *out,
	struct buf *errtext, int *status, struct err *e)
{
	char *argv[] = { (char *)"sh", (char *)"-c", (char *)script, NULL };

	p.argv = argv;
	p.env = env;
	return proc_run(&p, in, out, errtext, status, e);
}

static double seconds_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void test_streams_and_status(void **state)
{
	auto_buf in = BUF_SMALL, out = BUF_SMALL, err = BUF_SMALL;
	struct err e = ERR_INIT;
	int status = -1;

	(void)state;
	buf_addstr(&in, "input");
	assert_int_equal(run("cat; echo \" $A\"; echo problem >&2; exit 3", (struct proc_spec){ 0 }, &in,
				 &out, &err, &status, &e),
		0);
	assert_string_equal(buf_str(&out), "input b\n");
	assert_string_equal(buf_str(&err), "problem\n");
	assert_int_equal(proc_exit_code(status), 3);
	assert_int_equal(run("kill -9 $$", (struct proc_spec){ 0 }, NULL, NULL, NULL, &status, &e), 0);
	assert_int_equal(proc_exit_code(status), 128 + 9);
}

/* The child's environment is what is given, and nothing of ours. */
static void test_environment_is_complete(void **state)
{
	char *argv[] = { (char *)"/usr/bin/env", NULL };
	char *only[] = { (char *)"ONLY=this", NULL };
	struct proc_spec p = { .argv = argv, .env = only };
	auto_buf out = BUF_SMALL;
	struct err e = ERR_INIT;
	int status;

	(void)state;
	setenv("SECRET", "x", 1);
	assert_int_equal(proc_run(&p, NULL, &out, NULL, &status, &e), 0);
	assert_string_equal(buf_str(&out), "ONLY=this\n");
}

static void test_cannot_start(void **state)
{
	struct scratch *s = *state;
	auto_str plain = xasprintf("%s/plain", s->path);
	char *argv[] = { (char *)"no-such-program-here", NULL };
	struct proc_spec p = { .argv = argv, .env = env };
	struct err e = ERR_INIT;
	int status;

	assert_int_equal(proc_run(&p, NULL, NULL, NULL, &status, &e), -1);
	assert_int_equal(e.sys, ENOENT);
	put(s->fd, "plain", "not a program");
	argv[0] = plain;
	assert_int_equal(proc_run(&p, NULL, NULL, NULL, &status, &e), -1);
	assert_int_equal(e.sys, EACCES);
	argv[0] = (char *)"true";
	p.cwd = "/no/such/directory";
	assert_int_equal(proc_run(&p, NULL, NULL, NULL, &status, &e), -1);
	assert_int_equal(e.sys, ENOENT);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	assert_int_equal(errno, ECHILD);
}

static void test_output_limit(void **state)
{
	auto_buf out = BUF_INIT(1000), err = BUF_INIT(10);
	struct err e = ERR_INIT;
	int status;

	(void)state;
	assert_int_equal(run("echo 123456789012345 >&2; echo fine", (struct proc_spec){ 0 }, NULL, &out, &err,
				 &status, &e),
		0);
	assert_string_equal(buf_str(&out), "fine\n");
	assert_int_equal(run("exec yes", (struct proc_spec){ 0 }, NULL, &out, NULL, &status, &e), -1);
	assert_non_null(strstr(e.msg, "more than 1000 bytes"));
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
}

static void assert_times_out(const char *script, struct buf *in, struct buf *out)
{
	double start = seconds_now();
	struct err e = ERR_INIT;
	int status;

	alarm(20);
	assert_int_equal(run(script, (struct proc_spec){ .seconds = 1 }, in, out, NULL, &status, &e), -1);
	alarm(0);
	assert_int_equal(e.sys, ETIMEDOUT);
	assert_true(seconds_now() - start < 5);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
}

static void test_time_limit(void **state)
{
	auto_buf in = BUF_INIT(1 << 20), out = BUF_SMALL;

	(void)state;
	assert_times_out("exec sleep 30", NULL, NULL);
	assert_times_out("exec sleep 30", NULL, &out);
	/* a child that closes its output and keeps running */
	assert_times_out("exec sleep 30 >&-", NULL, &out);
	/* a child that leaves its output to another process and ends */
	assert_times_out("sleep 3 & exit 0", NULL, &out);
	while (buf_addstr(&in, "does not read its input "))
		;
	assert_times_out("exec sleep 30", &in, &out);
}

/* A file that is read has become a FIFO. */
static void test_fifo(void **state)
{
	struct scratch *s = *state;
	struct proc_spec p = { .cwd = s->path, .no_fifo = true, .seconds = 20 };
	struct err e = ERR_INIT;
	auto_buf out = BUF_SMALL;
	int status;

	assert_int_equal(run("mkfifo the-file", p, NULL, NULL, NULL, &status, &e), 0);
	assert_int_equal(run("exec cat the-file", p, NULL, NULL, NULL, &status, &e), -1);
	assert_int_equal(e.sys, EDEADLK);
	assert_non_null(strstr(e.msg, "waits for 'the-file', which is a FIFO"));
	/* with its output, and after it has said something */
	assert_int_equal(run("echo x; exec cat the-file", p, NULL, &out, NULL, &status, &e), -1);
	assert_int_equal(e.sys, EDEADLK);
	/* whoever waits for anything else may */
	assert_int_equal(run("exec sleep 1.2", p, NULL, &out, NULL, &status, &e), 0);
	/* the control */
	p.no_fifo = false;
	p.seconds = 2;
	assert_int_equal(run("exec cat the-file", p, NULL, NULL, NULL, &status, &e), -1);
	assert_int_equal(e.sys, ETIMEDOUT);
}

/* The process that starts a shell dies; whether the shell has died too when its output ends, in which only it can write. */
static bool outlives(bool bound)
{
	char *argv[] = { (char *)"sh", (char *)"-c", (char *)"exec sleep 5", NULL };
	struct proc_spec p = { .argv = argv, .env = env, .bound = bound };
	struct err e = ERR_INIT;
	int ends[2], status;
	pid_t middle, pid;
	double start;
	char byte;

	assert_int_equal(pipe(ends), 0);
	p.stdout_fd = ends[1];
	middle = fork();
	if (!middle)
		_exit(proc_start(&p, NULL, &pid, &e) < 0 || kill(getpid(), SIGKILL) < 0);
	close(ends[1]);
	assert_int_equal(waitpid(middle, &status, 0), middle);
	assert_true(WIFSIGNALED(status));
	start = seconds_now();
	assert_int_equal(read(ends[0], &byte, 1), 0);
	close(ends[0]);
	return seconds_now() - start > 3;
}

static void test_bound(void **state)
{
	(void)state;
	assert_false(outlives(true));
	/* the control */
	assert_true(outlives(false));
}

/* A child that does not read its input does not kill us with SIGPIPE, and large streams in both directions do
 * not deadlock. */
static void test_input(void **state)
{
	auto_buf in = BUF_INIT(1 << 20), out = BUF_INIT(1 << 20);
	struct err e = ERR_INIT;
	int status;

	(void)state;
	while (buf_addch(&in, 'x'))
		;
	assert_int_equal(run("exit 0", (struct proc_spec){ 0 }, &in, NULL, NULL, &status, &e), 0);
	assert_int_equal(
		run("exec <&-; exec yes", (struct proc_spec){ 0 }, &in, &out, NULL, &status, &e), -1);
	buf_reset(&out);
	assert_int_equal(run("exec cat", (struct proc_spec){ 0 }, &in, &out, NULL, &status, &e), 0);
	assert_int_equal(out.len, in.len);
}

static void test_given_descriptors(void **state)
{
	struct scratch *s = *state;
	auto_fd in = fd_of_bytes("in", "from a descriptor", 17);
	auto_fd to = openat(s->fd, "out", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	auto_fd keep = fd_of_bytes("keep", "kept", 4);
	auto_str script = xasprintf("cat; cat <&%d", keep);
	struct proc_spec p = { .stdin_fd = in, .stdout_fd = to, .keep_fd = keep, .cwd = s->path };
	struct err e = ERR_INIT;
	int status;

	assert_int_equal(run(script, p, NULL, NULL, NULL, &status, &e), 0);
	assert_int_equal(status, 0);
	assert_content(s->fd, "out", "from a descriptorkept");
}

/* J6: no inherited file descriptors */
static void test_no_others_are_inherited(void **state)
{
	struct scratch *s = *state;
	auto_fd in = fd_of_bytes("in", "", 0);
	auto_fd to = openat(s->fd, "out", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	auto_fd leaky = dup(in);
	auto_buf err = BUF_SMALL;
	char *argv[] = { (char *)"ls", (char *)"/proc/self/fd", NULL };
	struct proc_spec p = { .argv = argv, .env = env, .stdin_fd = in, .stdout_fd = to };
	struct err e = ERR_INIT;
	int status;

	assert_false(fcntl(leaky, F_GETFD) & FD_CLOEXEC);
	assert_int_equal(proc_run(&p, NULL, NULL, &err, &status, &e), 0);
	assert_content(s->fd, "out", "0\n1\n2\n3\n"); /* 3 is ls' own */
}

static void test_signal_mask_is_as_before(void **state)
{
	struct err e = ERR_INIT;
	sigset_t before, after;
	auto_buf out = BUF_SMALL;
	int status;

	(void)state;
	sigprocmask(SIG_SETMASK, NULL, &before);
	assert_int_equal(
		run("grep SigBlk /proc/self/status", (struct proc_spec){ 0 }, NULL, &out, NULL, &status, &e),
		0);
	assert_non_null(strstr(buf_str(&out), "0000000000000000"));
	assert_int_equal(run("exec yes", (struct proc_spec){ 0 }, NULL, &out, NULL, &status, &e), -1);
	sigprocmask(SIG_SETMASK, NULL, &after);
	assert_int_equal(sigismember(&before, SIGPIPE), sigismember(&after, SIGPIPE));
}

/* J10: root's helpers are not root */
static void test_as_inside(void **state)
{
	struct scratch *s = *state;
	struct proc_spec p = { .as_inside = true, .cwd = s->path };
	auto_str uid = xasprintf("%u\n", (unsigned)owner_inside().uid);
	auto_buf out = BUF_SMALL;
	struct err e = ERR_INIT;
	int status;

	assert_int_equal(run("id -u", p, NULL, &out, NULL, &status, &e), 0);
	assert_string_equal(buf_str(&out), uid);
	if (geteuid() != 0)
		return;
	put(s->fd, "root-only", "readable");
	buf_reset(&out);
	assert_int_equal(
		run("cat root-only; echo x > root-only || echo not-written; touch new || echo not-made", p,
			NULL, &out, NULL, &status, &e),
		0);
	assert_string_equal(buf_str(&out), "readablenot-written\nnot-made\n");
}

static void test_own_directory(void **state)
{
	auto_str dir = proc_own_dir();
	struct err e = ERR_INIT;
	char *part = NULL;

	(void)state;
	assert_non_null(dir);
	assert_int_equal(dir[0], '/');
	assert_int_equal(proc_find_part("test_proc", &part, &e), 0);
	assert_int_equal(strncmp(part, dir, strlen(dir)), 0);
	free(part);
	assert_int_equal(proc_find_part("garth-no-such-part", &part, &e), -1);
	assert_int_equal(e.kind, ERR_START);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_streams_and_status),
		cmocka_unit_test(test_environment_is_complete),
		scratch_test(test_cannot_start),
		cmocka_unit_test(test_output_limit),
		cmocka_unit_test(test_time_limit),
		cmocka_unit_test(test_bound),
		scratch_test(test_fifo),
		cmocka_unit_test(test_input),
		scratch_test(test_given_descriptors),
		scratch_test(test_no_others_are_inherited),
		cmocka_unit_test(test_signal_mask_is_as_before),
		scratch_test(test_as_inside),
		cmocka_unit_test(test_own_directory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
