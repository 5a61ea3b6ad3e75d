#include "acp/start.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sys/fd.h"
#include "sys/sock.h"

#define STEP (64u << 10)

int starting_begin(struct starting *s, const struct start_spec *spec, struct err *e)
{
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
		return err_sys(e, "cannot start the agent");
	s->pid = fork();
	if (!s->pid) {
		close(pair[0]);
		start_child(spec, pair[1]);
	}
	close(pair[1]);
	s->sock = pair[0];
	fd_nonblock(s->sock);
	if (s->pid > 0)
		return 0;
	s->pid = 0;
	return err_sys(e, "cannot start the agent");
}

/* The connection comes with the first bytes. */
static ssize_t take(struct starting *s, char *room)
{
	int fds[1];
	size_t n = 1;
	ssize_t got = sock_recv(s->sock, room, STEP, fds, &n);

	if (got > 0 && n && s->conn < 0)
		s->conn = fds[0];
	else if (got >= 0 && n)
		close(fds[0]);
	return got;
}

bool starting_read(struct starting *s)
{
	char *room = buf_reserve(&s->said, STEP);
	ssize_t n = room ? take(s, room) : 0;

	if (n > 0) {
		s->said.len += (size_t)n;
		s->said.data[s->said.len] = '\0';
		return false;
	}
	return n == 0 || errno != EAGAIN;
}

/* Fields are "NAME=VALUE" with a NUL behind each; the last one may not be complete. */
static const char *field(const struct starting *s, const char *name, const char *after)
{
	const char *p = after ? after + strlen(after) + 1 : buf_str(&s->said);
	const char *end = buf_str(&s->said) + s->said.len;
	size_t n = strlen(name);

	for (; p < end && memchr(p, '\0', (size_t)(end - p)); p += strlen(p) + 1)
		if (!strncmp(p, name, n) && p[n] == '=')
			return p + n + 1;
	return NULL;
}

const char *starting_get(const struct starting *s, const char *name)
{
	return field(s, name, NULL);
}

void starting_notes(const struct starting *s, struct strvec *ret)
{
	for (const char *v = field(s, "note", NULL); v; v = field(s, "note", v))
		strvec_push(ret, v);
}

bool starting_failed(const struct starting *s, struct err *e)
{
	const char *kind = field(s, "kind", NULL), *msg = field(s, "error", NULL),
		   *hint = field(s, "hint", NULL);

	if (field(s, "done", NULL))
		return false;
	err_set(e, kind ? (enum err_kind)atoi(kind) : ERR_FAILED, "%s",
		msg ? msg : "the agent could not be started");
	if (hint && *hint)
		err_hint(e, "%s", hint);
	return true;
}

void starting_release(struct starting *s)
{
	/* a child that probes ends after that */
	fd_closep(&s->sock);
	if (s->pid > 0)
		while (waitpid(s->pid, NULL, 0) < 0 && errno == EINTR)
			;
	fd_closep(&s->conn);
	buf_release(&s->said);
	*s = (struct starting)STARTING_INIT;
}

void starting_stop(struct starting *s)
{
	if (s->pid > 0)
		kill(s->pid, SIGTERM);
}
