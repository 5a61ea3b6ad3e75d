/*
 * The inside of a jail without a jail: a child that takes orders (jail/order.h) and executes commands
 * directly. inside_end() ends it.
 */
#ifndef TESTS_INSIDE_H
#define TESTS_INSIDE_H

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "testing.h"

#include "base/alloc.h"
#include "jail/order.h"
#include "sys/fd.h"
#include "sys/sock.h"

struct fake_inside {
	pid_t pid;
	int orders; /* the gateway's end */
	/* set before inside_start, or NULL: */
	const char *env;    /* one more variable for every command */
	const char *script; /* run by the shell instead of pack-objects */
};

struct inside_run {
	uint32_t id;
	pid_t pid;
};

static inline void inside_tell(int orders, enum order_type type, uint32_t id, int value)
{
	struct order_msg m = { .type = type, .id = id, .value = value };

	if (type == ORDER_NOT_STARTED)
		snprintf(m.err.msg, sizeof(m.err.msg), "cannot run it");
	sock_send(orders, &m, sizeof(m), NULL, 0);
}

static inline void __attribute__((noreturn))
inside_exec(const struct fake_inside *in, struct order_cmd *c, const int *fds)
{
	sigset_t none;

	if (in->env)
		strvec_push(&c->env, in->env);
	if (in->script && strvec_has(&c->argv, "pack-objects")) {
		strvec_release(&c->argv);
		strvec_pushl(&c->argv, "/bin/sh", "-c", in->script, NULL);
	}

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (int i = 0; i < 3; i++)
		dup2(fds[i + 1], i);
	if (!chdir(c->cwd))
		execvpe(c->argv.v[0], strvec_argv(&c->argv), strvec_argv(&c->env));
	_exit(127);
}

static inline void inside_order(const struct fake_inside *in, int orders, struct inside_run *runs, size_t max)
{
	auto_buf packed = BUF_INIT(ORDER_CMD_MAX);
	auto_order_cmd c = { 0 };
	struct order_msg m;
	struct err e;
	int fds[4];
	size_t nfds = 4, at = 0;

	if (sock_recv(orders, &m, sizeof(m), fds, &nfds) != sizeof(m))
		_exit(0);
	for (size_t i = 0; m.type == ORDER_SIGNAL && i < max; i++)
		if (runs[i].id == m.id)
			kill(runs[i].pid, m.value);
	while (at < max && runs[at].id)
		at++;
	if (m.type == ORDER_START && nfds == 4 && at < max && !read_rest(fds[0], &packed, "order", &e) &&
		!order_cmd_unpack(packed.data, packed.len, &c, &e)) {
		if (strchr(c.argv.v[0], '/') && access(c.argv.v[0], X_OK)) {
			inside_tell(orders, ORDER_NOT_STARTED, m.id, ENOENT);
		} else {
			runs[at] = (struct inside_run){ m.id, fork() };
			if (!runs[at].pid)
				inside_exec(in, &c, fds);
			inside_tell(orders, ORDER_STARTED, m.id, 0);
		}
	}
	for (size_t i = 0; i < nfds; i++)
		close(fds[i]);
}

static inline void __attribute__((noreturn)) inside_serve(const struct fake_inside *in, int orders)
{
	struct inside_run runs[32] = { 0 };
	sigset_t child;
	int signals, status;
	pid_t pid;

	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	sigprocmask(SIG_BLOCK, &child, NULL);
	signals = signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK);
	for (;;) {
		struct pollfd p[2] = { { orders, POLLIN, 0 }, { signals, POLLIN, 0 } };
		struct signalfd_siginfo info;

		poll(p, 2, -1);
		(void)!read(signals, &info, sizeof(info));
		while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
			for (size_t i = 0; i < ARRAY_SIZE(runs); i++)
				if (runs[i].id && runs[i].pid == pid) {
					inside_tell(orders, ORDER_EXITED, runs[i].id, status);
					runs[i].id = 0;
				}
		if (p[0].revents)
			inside_order(in, orders, runs, ARRAY_SIZE(runs));
	}
}

static inline void inside_start(struct fake_inside *in)
{
	int pair[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
	in->pid = fork();
	assert_true(in->pid >= 0);
	if (!in->pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		close(pair[0]);
		inside_serve(in, pair[1]);
	}
	close(pair[1]);
	in->orders = pair[0];
	assert_int_equal(fd_nonblock(in->orders), 0);
}

static inline void inside_end(struct fake_inside *in)
{
	close(in->orders);
	kill(in->pid, SIGKILL);
	waitpid(in->pid, NULL, 0);
}

#endif
