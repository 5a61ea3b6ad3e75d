#include "landlock_only.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "init.h"
#include "jail/enter.h"
#include "jail/supervisor.h"
#include "sys/descendants.h"
#include "sys/fd.h"
#include "sys/sock.h"

#define WRITABLE_MAX 64

/* Inside: the socket over which terminals are requested. */
static int link_inside = -1;

bool landlock_only_is(void)
{
	return link_inside >= 0;
}

int landlock_only_terminal(int *ret_master, int *ret_slave)
{
	int fds[2];
	size_t n = 2;
	char c;

	if (sock_send(link_inside, "t", 1, NULL, 0) < 0)
		return -1;
	if (sock_recv(link_inside, &c, 1, fds, &n) != 1 || n != 2) {
		for (size_t i = 0; i < n; i++)
			close(fds[i]);
		errno = EIO;
		return -1;
	}
	*ret_master = fds[0];
	*ret_slave = fds[1];
	return 0;
}

static int open_pair(int fds[2])
{
	auto_fd master = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC);
	int unlock = 0;

	if (master < 0 || ioctl(master, TIOCSPTLCK, &unlock) < 0)
		return -1;
	fds[1] = ioctl(master, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (fds[1] < 0)
		return -1;
	fds[0] = fd_steal(&master);
	return 0;
}

/* The process inside first sends the listener, then requests terminals. */
static void answer(int link, int *listener)
{
	int got[1], fds[2] = { -1, -1 };
	size_t n = 1;
	char c;

	if (sock_recv(link, &c, 1, got, &n) != 1)
		return;
	if (n) {
		if (*listener < 0)
			*listener = got[0];
		else
			close(got[0]);
		return;
	}
	if (open_pair(fds) < 0)
		sock_send(link, "n", 1, NULL, 0);
	else
		sock_send(link, "t", 1, fds, 2);
	fd_closep(&fds[0]);
	fd_closep(&fds[1]);
}

static int watch_signals(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGCHLD);
	sigprocmask(SIG_SETMASK, &set, NULL);
	signal(SIGPIPE, SIG_IGN);
	return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

/* Whether to end: SIGTERM came, or the first process is gone. */
static bool must_end(int signals, pid_t first)
{
	struct signalfd_siginfo info;
	bool over = false;
	int status;
	pid_t pid;

	while (read(signals, &info, sizeof(info)) == sizeof(info))
		over |= info.ssi_signo == SIGTERM;
	while ((pid = waitpid(-1, &status, WNOHANG | WUNTRACED)) > 0) {
		/* a process inside stopped it, but it must read the keeper's messages */
		if (pid == first && WIFSTOPPED(status))
			kill(first, SIGCONT);
		over |= pid == first && !WIFSTOPPED(status);
	}
	return over;
}

static void __attribute__((noreturn)) supervise(const struct jail *j, int link, int signals, pid_t first)
{
	const char *writable[WRITABLE_MAX + 1] = { NULL };
	struct supervisor s = { .writable = writable, .inet = j->net == JAIL_NET_HOST };
	struct strvec sockets = j->sockets;
	int listener = -1, n = 0;

	for (size_t i = 0; i < j->nrows && n < WRITABLE_MAX; i++)
		if (j->rows[i].kind == JAIL_BIND && j->rows[i].flags & JAIL_WRITE)
			writable[n++] = j->rows[i].target;
	s.sockets = (const char *const *)strvec_argv(&sockets);
	prctl(PR_SET_NAME, "garth-supervise");
	for (;;) {
		struct pollfd p[3] = { { signals, POLLIN, 0 }, { link, POLLIN, 0 }, { listener, POLLIN, 0 } };

		if (poll(p, 3, -1) < 0 && errno != EINTR)
			break;
		if (p[0].revents && must_end(signals, first))
			break;
		if (p[2].revents && supervisor_serve(listener, &s) < 0)
			fd_closep(&listener);
		if (p[1].revents & POLLIN)
			answer(link, &listener);
		else if (p[1].revents)
			fd_closep(&link), link = -1;
	}
	descendants_end(NULL, 0);
	_exit(0);
}

static void __attribute__((noreturn))
enter_and_serve(const struct jail *j, int orders, int link, int (*gift)(const struct jail *j))
{
	struct err e = ERR_INIT;
	int listener;

	setsid();
	if (enter_landlock_only(j, orders, link, &listener, &e) < 0 ||
		(sock_send(link, "l", 1, &listener, 1) < 0 &&
			err_sys(&e, "cannot reach the supervisor") < 0)) {
		e.kind = ERR_START;
		init_tell(orders, ORDER_FAILED, 0, 0, &e, -1);
		_exit(1);
	}
	close(listener);
	link_inside = link;
	init_serve(orders, gift(j));
}

void landlock_only_run(
	const struct jail *j, int orders, int (*born)(pid_t pid), int (*gift)(const struct jail *j))
{
	int link[2], gate[2], signals;
	char go;
	pid_t pid;

	/* end when the keeper ends */
	if (prctl(PR_SET_PDEATHSIG, SIGTERM, 0, 0, 0) < 0 || prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) < 0 ||
		socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, link) < 0 || pipe2(gate, O_CLOEXEC) < 0)
		_exit(1);
	signals = watch_signals();
	pid = fork();
	if (!pid) {
		close(link[0]);
		close(gate[1]);
		if (read_full(gate[0], &go, 1) != 1)
			_exit(1);
		close(gate[0]);
		close(signals);
		enter_and_serve(j, orders, link[1], gift);
	}
	close(link[1]);
	if (pid < 0 || born(pid) < 0 || write_full(gate[1], "", 1) < 0)
		_exit(1);
	close(gate[0]);
	close(gate[1]);
	close(orders);
	prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
	supervise(j, link[0], signals, pid);
}
