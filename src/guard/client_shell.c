/* The shell of a client (Goose) that does not pass on to its model what a hook says after a tool. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "guard/guard.h"
#include "sys/fd.h"

#define AT_ONCE 16384
/* How much of the end of the output is searched. */
#define TAIL_MAX (16u << 10)

enum { FROM_OUT, FROM_ERR, FROM_SHELL, NFROM };

/* Passes on what the shell and its children write. It may run for longer than the shell, as its children may. */
struct relay {
	const struct guard *g;
	struct pollfd from[NFROM];
	struct buf tail[FROM_SHELL];
	int done; /* closed when everything of the shell is passed on */
};

static char *real_shell(void)
{
	static char bash[] = "/bin/bash", sh[] = "/bin/sh";

	return access(bash, X_OK) < 0 ? sh : bash;
}

static int run_shell(char **argv)
{
	argv[0] = real_shell();
	execv(argv[0], argv);
	return 127;
}

static void remember(struct buf *tail, const char *data, size_t len)
{
	if (tail->len + len > TAIL_MAX * 2 && tail->len > TAIL_MAX) {
		memmove(tail->data, tail->data + tail->len - TAIL_MAX, TAIL_MAX);
		buf_cut(tail, TAIL_MAX);
	}
	buf_add(tail, data, len);
}

/* Returns false if there is nothing to read, now or for good. */
static bool pass_on(struct relay *r, int i)
{
	char data[AT_ONCE];
	ssize_t n = r->from[i].fd < 0 ? 0 : read(r->from[i].fd, data, sizeof(data));

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return false;
	if (n <= 0) {
		fd_closep(&r->from[i].fd);
		r->from[i].fd = -1;
		return false;
	}
	if (write_full(i == FROM_OUT ? STDOUT_FILENO : STDERR_FILENO, data, (size_t)n) < 0)
		_exit(0);
	remember(&r->tail[i], data, (size_t)n);
	return true;
}

/* The shell has ended: everything of it is passed on, and the line about a wall, before its status is known. */
static void finish(struct relay *r)
{
	auto_buf line = BUF_SMALL;
	char cwd[GUARD_PATH_MAX];

	while (pass_on(r, FROM_OUT) || pass_on(r, FROM_ERR))
		;
	for (int i = FROM_SHELL - 1; i >= 0 && !line.len; i--)
		after_look(r->g, getcwd(cwd, sizeof(cwd)) ? cwd : r->g->facts->workspace,
			buf_str(&r->tail[i]), r->tail[i].len, &line);
	if (line.len) {
		buf_addch(&line, '\n');
		write_full(STDERR_FILENO, buf_str(&line), line.len);
	}
	fd_closep(&r->from[FROM_SHELL].fd);
	r->from[FROM_SHELL].fd = -1;
	close(r->done);
}

static void relay(struct relay *r)
{
	while (r->from[FROM_OUT].fd >= 0 || r->from[FROM_ERR].fd >= 0 || r->from[FROM_SHELL].fd >= 0) {
		if (poll(r->from, NFROM, -1) < 0 && errno != EINTR)
			break;
		for (int i = 0; i < FROM_SHELL; i++)
			if (r->from[i].revents)
				pass_on(r, i);
		if (r->from[FROM_SHELL].fd >= 0 && r->from[FROM_SHELL].revents)
			finish(r);
	}
	_exit(0);
}

/* Starts the real shell, as the client would, but with its output in pipes. */
static pid_t start(char **argv, const int out[2], const int err[2])
{
	pid_t parent = getpid(), pid = fork();

	if (pid)
		return pid;
	/* if the client kills its shell, the real one ends too */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent || dup2(out[1], STDOUT_FILENO) < 0 || dup2(err[1], STDERR_FILENO) < 0)
		_exit(127);
	_exit(run_shell(argv));
}

/* Ends this process in the same way as the shell has ended. */
static int end_as(int status)
{
	if (WIFSIGNALED(status)) {
		signal(WTERMSIG(status), SIG_DFL);
		raise(WTERMSIG(status));
		return 128 + WTERMSIG(status);
	}
	return WEXITSTATUS(status);
}

/* Three pipes: what is written to stdout and to stderr, and one whose end says that the shell has ended. The relay answers by
 * the end of a fourth. */
struct pipes {
	int out[2], err[2], ended[2], done[2];
};

static bool open_pipes(struct pipes *p)
{
	return !pipe2(p->out, O_CLOEXEC) && !pipe2(p->err, O_CLOEXEC) && !pipe2(p->ended, O_CLOEXEC) &&
	       !pipe2(p->done, O_CLOEXEC);
}

static void be_relay(const struct guard *g, const struct pipes *p)
{
	struct relay r = { .g = g,
		.from = { { p->out[0], POLLIN, 0 }, { p->err[0], POLLIN, 0 }, { p->ended[0], POLLIN, 0 } },
		.tail = { BUF_INIT(TAIL_MAX * 4), BUF_INIT(TAIL_MAX * 4) },
		.done = p->done[1] };

	close(p->out[1]);
	close(p->err[1]);
	close(p->ended[1]);
	for (int i = 0; i < FROM_SHELL; i++)
		fcntl(r.from[i].fd, F_SETFL, O_NONBLOCK);
	relay(&r);
}

int client_shell(const struct guard *g, char **argv)
{
	struct pipes p;
	int status = 0;
	pid_t shell, pid;
	char byte;

	if (!strcmp(g->facts->guard, "off") || !*g->facts->workspace || !open_pipes(&p) || (pid = fork()) < 0)
		return run_shell(argv);
	if (!pid)
		be_relay(g, &p);
	/* if the relay ends, the shell's next write must fail */
	close(p.done[1]);
	close(p.out[0]);
	close(p.err[0]);
	close(p.ended[0]);
	shell = start(argv, p.out, p.err);
	close(p.out[1]);
	close(p.err[1]);
	while (shell > 0 && waitpid(shell, &status, 0) < 0 && errno == EINTR)
		;
	close(p.ended[1]);
	while (read(p.done[0], &byte, 1) < 0 && errno == EINTR)
		;
	return shell < 0 ? 127 : end_as(status);
}
