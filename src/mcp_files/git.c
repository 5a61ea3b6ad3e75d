#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "mcp_files/files.h"
#include "sys/fd.h"
#include "sys/proc.h"

#define PIECE_MAX (1u << 20)
#define STEP      (64u << 10)

extern char **environ;

static void fill_env(struct strvec *env)
{
	for (char **v = environ; *v; v++)
		strvec_push(env, *v);
	/* it only reads, so it needs no lock, and no hook that asks the gateway */
	strvec_pushl(env, "GIT_OPTIONAL_LOCKS=0", "GARTH_GATEWAY=1", "GIT_LITERAL_PATHSPECS=1", NULL);
}

/* Passes complete pieces on; false: no more are wanted. A piece that is too long is cut. */
static bool pass(struct buf *b, char end, git_fn *fn, void *arg)
{
	size_t at = 0;
	char *stop;
	bool more = true;

	while (more && (stop = memchr(b->data + at, end, b->len - at))) {
		*stop = '\0';
		more = fn(b->data + at, (size_t)(stop - b->data) - at, arg);
		at = (size_t)(stop - b->data) + 1;
	}
	memmove(b->data, b->data + at, b->len - at);
	buf_cut(b, b->len - at < PIECE_MAX ? b->len - at : 0);
	return more;
}

/* True: its output has ended. */
static bool listen(int fd, char end, git_fn *fn, void *arg)
{
	struct deadline d = deadline_in(FILES_TOOL_MS);
	auto_buf b = BUF_INIT(PIECE_MAX + 2 * STEP);

	for (;;) {
		struct pollfd p = { .fd = fd, .events = POLLIN };
		char *room = buf_reserve(&b, STEP);
		ssize_t n;

		if (!room || (poll(&p, 1, deadline_left(&d)) <= 0 && errno != EINTR))
			return false;
		n = read(fd, room, STEP);
		if (n < 0 && (errno == EINTR || errno == EAGAIN))
			continue;
		if (n <= 0)
			return true;
		b.len += (size_t)n;
		b.data[b.len] = '\0';
		if (!pass(&b, end, fn, arg))
			return false;
	}
}

/* git's error message, as one line. */
static void complaint(int fd, struct err *e)
{
	char text[300] = "";
	ssize_t n = pread(fd, text, sizeof(text) - 1, 0);

	text[n > 0 ? n : 0] = '\0';
	text[strcspn(text, "\n")] = '\0';
	err_set(e, ERR_FAILED, "%s", *text ? text : "git failed");
}

int git_each(const struct strvec *args, char end, git_fn *fn, void *arg, int *ret_code, struct err *e)
{
	auto_strvec argv = STRVEC_INIT, env = STRVEC_INIT;
	auto_fd said = memfd_create("git", MFD_CLOEXEC), out = -1;
	struct proc_spec spec = { .stderr_fd = said, .own_group = true };
	int status = 0;
	bool all;
	pid_t pid;

	strvec_pushl(&argv, "git", "--no-pager", "-c", "core.quotePath=false", NULL);
	strvec_pushv(&argv, (const char *const *)args->v);
	fill_env(&env);
	spec.argv = argv.v;
	spec.env = env.v;
	if (proc_start(&spec, &out, &pid, e) < 0)
		return -1;
	all = listen(out, end, fn, arg);
	if (!all)
		kill(-pid, SIGKILL);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	*ret_code = all ? proc_exit_code(status) : -1;
	if (*ret_code > 1)
		complaint(said, e);
	return 0;
}
