#include "init.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "connect.h"
#include "jail/overlay_rename.h"
#include "listen.h"
#include "spawn.h"
#include "sys/descendants.h"
#include "sys/fd.h"
#include "sys/sock.h"

#define MAX_COMMANDS 1024
#define STOP_ROUNDS  1000

struct command {
	uint32_t id;
	pid_t pid;
	bool stopped; /* by a SIGSTOP for everything */
};

struct init {
	int orders;
	struct command commands[MAX_COMMANDS];
	size_t n;
};

int init_tell(int orders, enum order_type type, uint32_t id, int value, const struct err *e, int fd)
{
	struct order_msg m = { .type = type, .id = id, .value = value };

	if (e)
		m.err = *e;
	return sock_send(orders, &m, sizeof(m), &fd, fd >= 0);
}

/* Without the keeper there is nothing left to do, so a failure ends this process. */
static void tell(
	const struct init *in, enum order_type type, uint32_t id, int value, const struct err *e, int fd)
{
	if (init_tell(in->orders, type, id, value, e, fd) < 0)
		_exit(1);
}

static int read_command(int fd, struct order_cmd *ret, struct err *e)
{
	auto_buf packed = BUF_INIT(ORDER_CMD_MAX);

	return read_rest(fd, &packed, "the command", e) < 0
		       ? -1
		       : order_cmd_unpack(buf_str(&packed), packed.len, ret, e);
}

static int start(struct init *in, uint32_t id, const int *fds, size_t nfds, int *ret_master, struct err *e)
{
	auto_order_cmd c = { 0 };
	pid_t pid;

	if (!nfds || in->n == MAX_COMMANDS)
		return err_set(e, ERR_START, nfds ? "too many commands" : "a command is missing");
	if (read_command(fds[0], &c, e) < 0)
		return -1;
	if (!c.tty && nfds != 4)
		return err_set(e, ERR_START, "standard input and output are missing");
	if (spawn_command(&c, fds + 1, &pid, ret_master, e) < 0)
		return -1;
	in->commands[in->n++] = (struct command){ .id = id, .pid = pid };
	return 0;
}

static void order_start(struct init *in, uint32_t id, const int *fds, size_t nfds)
{
	struct err e = ERR_INIT;
	auto_fd master = -1;

	if (start(in, id, fds, nfds, &master, &e) < 0) {
		e.kind = ERR_START;
		tell(in, ORDER_NOT_STARTED, id, e.sys ? e.sys : EINVAL, &e, -1);
	} else {
		tell(in, ORDER_STARTED, id, 0, NULL, master);
	}
}

/* Whether any process that this one may signal still runs. It may signal all processes
 * inside and no others. */
static bool any_runs(void)
{
	DIR *d = opendir("/proc");
	struct dirent *ent;
	bool found = false;

	while (d && !found && (ent = readdir(d))) {
		pid_t pid = (pid_t)strtol(ent->d_name, NULL, 10);
		char path[32], text[512] = "", *rest;
		auto_fd fd = -1;

		if (pid <= 0 || pid == getpid() || kill(pid, 0) < 0)
			continue;
		snprintf(path, sizeof(path), "/proc/%d/stat", pid);
		fd = open(path, O_RDONLY | O_CLOEXEC);
		rest = fd >= 0 && read(fd, text, sizeof(text) - 1) > 0 ? strrchr(text, ')') : NULL;
		/* ") S …": stopped, traced, dead; or waiting for a disk (D), in which case it stops
		 * afterwards */
		found = rest && strlen(rest) > 2 && !strchr("TtZXD", rest[2]);
	}
	if (d)
		closedir(d);
	return found;
}

/* Sends SIGSTOP to all, several times: a process may send SIGCONT to others just before it stops. */
static void stop_all(void)
{
	for (int round = 0; round < STOP_ROUNDS; round++) {
		kill(-1, SIGSTOP);
		if (!any_runs())
			return;
		poll(NULL, 0, round < 100 ? 0 : 1);
	}
}

/* Commands that were started after everything was stopped. */
static size_t running_commands(const struct init *in, pid_t *ret)
{
	size_t n = 0;

	for (size_t i = 0; i < in->n; i++)
		if (!in->commands[i].stopped)
			ret[n++] = in->commands[i].pid;
	return n;
}

/* Stops again what woke up: a timer, a lock or a descriptor can send a SIGCONT that was requested before.
 * Commands that were started since, and their descendants, keep running, except for orphans. */
static void hold_all(const struct init *in)
{
	static pid_t running[MAX_COMMANDS];
	size_t n = running_commands(in, running);
	pid_t *pids = NULL;

	if (!n) {
		kill(-1, SIGSTOP);
		return;
	}
	n = descendants_others(running, n, &pids);
	for (size_t i = 0; i < n; i++)
		kill(pids[i], SIGSTOP);
	free(pids);
}

/* Signals that a terminal would send go to the whole process group. */
static void order_signal(struct init *in, uint32_t id, int sig)
{
	bool group = sig == SIGINT || sig == SIGQUIT || sig == SIGHUP || sig == SIGWINCH || sig == SIGCONT;

	if (sig <= 0 || sig >= NSIG)
		return;
	if (!id && sig == SIGSTOP)
		stop_all();
	if (!id && sig == SIGCONT)
		kill(-1, sig);
	for (size_t i = 0; !id && i < in->n; i++)
		in->commands[i].stopped = sig == SIGSTOP;
	for (size_t i = 0; i < in->n; i++)
		if (in->commands[i].id == id)
			kill(group ? -in->commands[i].pid : in->commands[i].pid, sig);
}

static void order_dial(const struct init *in, uint32_t id, int port)
{
	auto_fd fd = connect_to_port(port);

	tell(in, ORDER_DIALED, id, fd < 0 ? errno : 0, NULL, fd);
}

static void order_listen(const struct init *in, uint32_t id, int port)
{
	struct order_msg m = { .type = ORDER_LISTENS, .id = id };
	int fds[2], n = port > 0 && port <= UINT16_MAX ? listen_both((uint16_t)port, fds) : -1;

	m.value = n < 0 ? errno : 0;
	if (sock_send(in->orders, &m, sizeof(m), fds, n < 0 ? 0 : (size_t)n) < 0)
		_exit(1);
	for (int i = 0; i < n; i++)
		close(fds[i]);
}

static void take_order(struct init *in)
{
	struct order_msg m;
	int fds[4];
	size_t nfds = ARRAY_SIZE(fds);
	ssize_t n = sock_recv(in->orders, &m, sizeof(m), fds, &nfds);

	if (n != sizeof(m))
		_exit(n == 0 ? 0 : 1);
	if (m.type == ORDER_START)
		order_start(in, m.id, fds, nfds);
	else if (m.type == ORDER_SIGNAL)
		order_signal(in, m.id, m.value);
	else if (m.type == ORDER_HOLD)
		hold_all(in);
	else if (m.type == ORDER_COPIES)
		rename_help_pause(!m.value);
	else if (m.type == ORDER_DIAL)
		order_dial(in, m.id, m.value);
	else if (m.type == ORDER_LISTEN)
		order_listen(in, m.id, m.value);
	for (size_t i = 0; i < nfds; i++)
		close(fds[i]);
}

/* Reaps orphans too, because this is pid 1. */
static void reap(struct init *in)
{
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
		for (size_t i = 0; i < in->n; i++)
			/* a command that is traced by its parent may only have stopped */
			if (in->commands[i].pid == pid && (WIFEXITED(status) || WIFSIGNALED(status))) {
				uint32_t id = in->commands[i].id;

				in->commands[i] = in->commands[--in->n];
				tell(in, ORDER_EXITED, id, status, NULL, -1);
				break;
			}
}

static int watch_children(void)
{
	sigset_t all, child;

	/* No signal is for this process. Commands start with an empty mask. */
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	return signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK);
}

void init_serve(int orders, int given)
{
	static struct init in;
	int signals = watch_children();
	struct pollfd fds[2] = { { orders, POLLIN, 0 }, { signals, POLLIN, 0 } };

	in.orders = orders;
	if (signals < 0)
		_exit(1);
	prctl(PR_SET_NAME, "garth-init");
	tell(&in, ORDER_READY, 0, 0, NULL, given);
	if (given >= 0)
		close(given);
	for (;;) {
		if (poll(fds, 2, -1) < 0) {
			if (errno == EINTR)
				continue;
			_exit(1);
		}
		if (fds[1].revents) {
			struct signalfd_siginfo info;

			(void)!read(signals, &info, sizeof(info));
			reap(&in);
		}
		if (fds[0].revents)
			take_order(&in);
	}
}
