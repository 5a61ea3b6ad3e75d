#include "serve/child.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "sys/fd.h"
#include "sys/proc.h"

struct child {
	pid_t pid; /* also its process group */
	int out;   /* -1: closed, or its output is not wanted */
	int end;   /* a pidfd */
	struct event *readable, *ended, *late;
	struct buf text;
	child_fn *fn;
	void *arg;
};

static void release(struct child *c)
{
	struct event *events[] = { c->readable, c->ended, c->late };

	for (size_t i = 0; i < ARRAY_SIZE(events); i++)
		if (events[i])
			event_free(events[i]);
	fd_closep(&c->out);
	fd_closep(&c->end);
	buf_release(&c->text);
	free(c);
}

/* Kills the process group: most commands have started git. */
static int kill_and_wait(struct child *c)
{
	int status = 0;

	kill(-c->pid, SIGKILL);
	while (waitpid(c->pid, &status, 0) < 0 && errno == EINTR)
		;
	return status;
}

static void finish(struct child *c, int code)
{
	c->fn(c->arg, code, &c->text);
	release(c);
}

/* Reads once; false if nothing more will come. */
static bool take_some(struct child *c)
{
	char chunk[65536];
	ssize_t n = c->out < 0 ? 0 : read(c->out, chunk, sizeof(chunk));

	if (n > 0)
		return buf_add(&c->text, chunk, (size_t)n);
	return n < 0 && (errno == EINTR || errno == EAGAIN);
}

static void on_readable(evutil_socket_t fd, short what, void *arg)
{
	struct child *c = arg;

	(void)fd;
	(void)what;
	if (take_some(c))
		return;
	event_del(c->readable);
	if (!c->text.overflow)
		return;
	kill_and_wait(c);
	finish(c, CHILD_LONG);
}

static void on_ended(evutil_socket_t fd, short what, void *arg)
{
	struct child *c = arg;
	int status;

	(void)fd;
	(void)what;
	errno = 0;
	while (take_some(c) && errno != EAGAIN)
		;
	/* kills what it left running; until waitpid, no other process can have its pid */
	status = kill_and_wait(c);
	finish(c, c->text.overflow ? CHILD_LONG : proc_exit_code(status));
}

static void on_late(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	kill_and_wait(arg);
	finish(arg, CHILD_LATE);
}

/* Watches for output, the end, and the time limit. */
static int watch(struct event_base *base, struct child *c, unsigned seconds)
{
	struct timeval limit = { .tv_sec = seconds };

	c->end = (int)syscall(SYS_pidfd_open, c->pid, 0);
	if (c->end < 0 || (c->out >= 0 && fd_nonblock(c->out) < 0))
		return -1;
	c->ended = event_new(base, c->end, EV_READ | EV_PERSIST, on_ended, c);
	c->late = evtimer_new(base, on_late, c);
	if (c->out >= 0)
		c->readable = event_new(base, c->out, EV_READ | EV_PERSIST, on_readable, c);
	if (!c->ended || !c->late || event_add(c->ended, NULL) || event_add(c->late, &limit))
		return -1;
	return c->out >= 0 && (!c->readable || event_add(c->readable, NULL)) ? -1 : 0;
}

int child_start(struct event_base *base, const struct child_spec *s, struct child **ret, struct err *e)
{
	auto_strvec argv = STRVEC_INIT;
	/* in no project, so that an answer does not depend on where the server was started */
	struct proc_spec p = { .env = environ, .cwd = "/", .own_group = true, .stderr_fd = s->heard ? 2 : 0 };
	struct child *c = xcalloc(1, sizeof(*c));
	auto_fd in = s->in ? fd_of_bytes("request", buf_str(s->in), s->in->len) : -1;

	p.stdin_fd = in > 0 ? in : 0;
	strvec_push(&argv, "/proc/self/exe");
	strvec_pushv(&argv, (const char *const *)s->args->v);
	p.argv = argv.v;
	*c = (struct child){
		.out = -1, .end = -1, .text = { .max = s->out_max }, .fn = s->fn, .arg = s->arg
	};
	if (proc_start(&p, s->out_max ? &c->out : NULL, &c->pid, e) < 0) {
		release(c);
		return -1;
	}
	if (watch(base, c, s->seconds) < 0) {
		kill_and_wait(c);
		release(c);
		return err_set(e, ERR_FAILED, "cannot watch a process");
	}
	*ret = c;
	return 0;
}

void child_end(struct child *c, bool patience)
{
	if (!c)
		return;
	/* a stopped process handles SIGTERM only after SIGCONT */
	if (patience && !kill(-c->pid, SIGTERM) && !kill(-c->pid, SIGCONT))
		poll(&(struct pollfd){ c->end, POLLIN, 0 }, 1, CHILD_PATIENCE_MS);
	kill_and_wait(c);
	release(c);
}
