/*
 * A yard with a wall through it: directory "in" may be changed, directory "ex" not. jailed() runs a function
 * in a child behind the filter while this process stands in for it, bare() without either: what is refused
 * to the first has to be seen to work for the second. Both give what the function returns, an errno.
 */
#ifndef TESTS_STANDIN_YARD_H
#define TESTS_STANDIN_YARD_H

#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>

#include "scratch.h"

#include "jail/supervisor.h"
#include "sys/sock.h"

struct yard {
	const struct scratch *scratch;
	char in[96], ex[96];             /* the directories */
	char in_file[128], ex_file[128]; /* a file in each, of mode 0600 and time 1000 */
	char listed[128];                /* a socket in ex that may be connected to */
	const char *writable[2], *sockets[2];
	struct supervisor rules;
	bool inet; /* what the filter is told */
};

typedef int attempt_fn(const struct yard *y);

static inline void yard_reset(const struct yard *y)
{
	const struct timespec times[2] = { { 1000, 0 }, { 1000, 0 } };

	assert_int_equal(chmod(y->in_file, 0600), 0);
	assert_int_equal(chmod(y->ex_file, 0600), 0);
	assert_int_equal(utimensat(AT_FDCWD, y->in_file, times, 0), 0);
	assert_int_equal(utimensat(AT_FDCWD, y->ex_file, times, 0), 0);
}

static inline bool touched(const char *path)
{
	struct stat st;

	return stat(path, &st) < 0 || (st.st_mode & 07777) != 0600 || st.st_mtime != 1000;
}

static inline void yard_init(struct yard *y, const struct scratch *s)
{
	*y = (struct yard){ .scratch = s };
	snprintf(y->in, sizeof(y->in), "%s/in", s->path);
	snprintf(y->ex, sizeof(y->ex), "%s/ex", s->path);
	snprintf(y->in_file, sizeof(y->in_file), "%s/file", y->in);
	snprintf(y->ex_file, sizeof(y->ex_file), "%s/file", y->ex);
	snprintf(y->listed, sizeof(y->listed), "%s/listed", y->ex);
	assert_int_equal(mkdir(y->in, 0700), 0);
	assert_int_equal(mkdir(y->ex, 0700), 0);
	put(s->fd, "in/file", "");
	put(s->fd, "ex/file", "");
	assert_int_equal(symlinkat("file", s->fd, "in/stays"), 0);
	assert_int_equal(symlinkat("../ex/file", s->fd, "in/leaves"), 0);
	y->writable[0] = y->in;
	y->sockets[0] = y->listed;
	y->rules = (struct supervisor){ y->writable, y->sockets, false };
	yard_reset(y);
}

static inline int exit_of(pid_t pid)
{
	int status = 0;

	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static inline int bare(const struct yard *y, attempt_fn *fn)
{
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (!pid)
		_exit(fn(y));
	return exit_of(pid);
}

/* The child behind the filter, and the listener for its calls. */
static inline pid_t start_jailed(const struct yard *y, attempt_fn *fn, int *ret_listener)
{
	struct err e = ERR_INIT;
	int pair[2], listener = -1;
	size_t n = 1;
	char byte = 0;
	pid_t pid;

	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
			supervisor_filter(y->inet, &listener, &e) < 0 ||
			sock_send(pair[1], &byte, 1, &listener, 1) < 0)
			_exit(255);
		close(listener);
		close(pair[0]);
		close(pair[1]);
		_exit(fn(y));
	}
	close(pair[1]);
	assert_int_equal(sock_recv(pair[0], &byte, 1, ret_listener, &n), 1);
	assert_int_equal(n, 1);
	close(pair[0]);
	return pid;
}

static inline void serve_all(int listener, const struct supervisor *s)
{
	struct pollfd p = { listener, POLLIN, 0 };

	do
		assert_true(poll(&p, 1, 60000) > 0);
	while (supervisor_serve(listener, s) == 0);
}

static inline int jailed(const struct yard *y, attempt_fn *fn)
{
	auto_fd listener = -1;
	pid_t pid = start_jailed(y, fn, &listener);

	serve_all(listener, &y->rules);
	return exit_of(pid);
}

static inline int error_of(long rc)
{
	return rc < 0 ? errno : 0;
}

static inline bool has_mode(const char *path, mode_t mode)
{
	struct stat st;

	return !stat(path, &st) && (st.st_mode & 07777) == mode;
}

static inline int open_file(const struct yard *y, bool inside, int flags)
{
	return open(inside ? y->in_file : y->ex_file, flags | O_CLOEXEC);
}

/* For attempts of several steps: which one went wrong. */
#define STEP(ok)                                                                                             \
	do {                                                                                                 \
		if (!(ok))                                                                                   \
			return step_failed(__LINE__, #ok);                                                   \
	} while (0)

static inline int step_failed(int line, const char *what)
{
	int error = errno;

	fprintf(stderr, "# line %d: %s: %s\n", line, what, strerror(error));
	return error ? error : 254;
}

#endif
