#include "gateway/mcp_relay.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "http/guard.h"
#include "sys/clock.h"
#include "sys/fd.h"

#define LOOK_SECONDS 1

struct mcp_relay_call {
	struct mcp_relay *relay;
	struct runner_piped piped;
	struct event *writable, *readable, *look;
	struct buf in, out;
	size_t sent;
	time_t until;
	struct mcp_relay_ask ask; /* head and body are not valid any more */
};

static void call_free(struct mcp_relay_call *c)
{
	struct event *events[] = { c->writable, c->readable, c->look };

	for (size_t i = 0; i < ARRAY_SIZE(events); i++)
		if (events[i])
			event_free(events[i]);
	for (size_t i = 0; i < RELAY_MAX; i++)
		if (c->relay->calls[i] == c)
			c->relay->calls[i] = NULL;
	runner_drop_piped(c->relay->in->runner, &c->piped);
	buf_release(&c->in);
	buf_release(&c->out);
	free(c);
}

/* The first line is {"status":…,"session":…}: a claim of the inside. */
static void finish(struct mcp_relay_call *c, bool whole)
{
	struct mcp_relay_ask ask = c->ask;
	const char *end = whole && !c->out.overflow ? memchr(buf_str(&c->out), '\n', c->out.len) : NULL;
	json_t *head = end ? json_loadb(c->out.data, (size_t)(end - c->out.data), 0, NULL) : NULL;
	json_int_t status = json_integer_value(json_object_get(head, "status"));
	const char *session = json_string_value(json_object_get(head, "session"));

	c->relay->bytes += c->out.len;
	if (status < 200 || status > 599)
		ask.fn(ask.arg, 0, NULL, "", 0);
	else
		ask.fn(ask.arg, (int)status, session, end + 1, c->out.len - (size_t)(end + 1 - c->out.data));
	json_decref(head);
	call_free(c);
}

static void on_writable(evutil_socket_t fd, short what, void *arg)
{
	struct mcp_relay_call *c = arg;
	ssize_t n = write(fd, c->in.data + c->sent, c->in.len - c->sent);

	(void)what;
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	c->sent += n > 0 ? (size_t)n : 0;
	if (n > 0 && c->sent < c->in.len)
		return;
	/* the end of its input, or nobody reads it: then it has an answer, or none */
	event_del(c->writable);
	close(fd_steal(&c->piped.in));
}

static void on_readable(evutil_socket_t fd, short what, void *arg)
{
	struct mcp_relay_call *c = arg;
	char piece[32768];
	ssize_t n = read(fd, piece, sizeof(piece));

	(void)what;
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0 || !buf_add(&c->out, piece, (size_t)n))
		finish(c, n == 0);
}

static void on_look(evutil_socket_t fd, short what, void *arg)
{
	struct mcp_relay_call *c = arg;

	(void)fd;
	(void)what;
	if (clock_seconds() >= c->until || !c->ask.wanted(c->ask.arg))
		finish(c, false);
}

static int watch(struct mcp_relay_call *c)
{
	struct timeval look = { .tv_sec = LOOK_SECONDS };
	struct event_base *base = c->relay->base;

	c->writable = event_new(base, c->piped.in, EV_WRITE | EV_PERSIST, on_writable, c);
	c->readable = event_new(base, c->piped.out, EV_READ | EV_PERSIST, on_readable, c);
	c->look = event_new(base, -1, EV_PERSIST, on_look, c);
	if (!c->writable || !c->readable || !c->look)
		return -1;
	return event_add(c->writable, NULL) || event_add(c->readable, NULL) || event_add(c->look, &look) ? -1
													 : 0;
}

static int start_inside(struct mcp_relay_call *c, const char *session, struct err *e)
{
	struct inside *in = c->relay->in;
	auto_str program = workspace_inside(&in->context.home, &in->task, "/mcp"), socket = NULL;
	auto_strvec args = STRVEC_INIT;
	auto_order_cmd cmd = { 0 };

	strvec_push(&args, "--http");
	inside_program_command(in, program, &args, &cmd);
	socket = backend_of(&in->task)->landlock_only
			 ? home_path(&in->context.home, "tasks/%lld/gateway", (long long)in->task.id)
			 : xstrdup(INSIDE_GATEWAY);
	strvec_pushf(&cmd.env, "GARTH_SOCKET=%s", socket);
	if (in->context.config.tickets_max)
		strvec_push(&cmd.env, "GARTH_TICKETS=1");
	if (session)
		strvec_pushf(&cmd.env, "GARTH_SESSION=%s", session);
	return runner_start_piped(in->runner, &cmd, -1, true, false, &c->piped, e);
}

/* An answer is in this process's memory until its client has taken it. */
static bool has_too_many_bytes(struct mcp_relay *r)
{
	if (clock_seconds() - r->since > HTTP_SECONDS) {
		r->since = clock_seconds();
		r->bytes = 0;
	}
	return r->bytes > RELAY_BYTES_MAX;
}

int mcp_relay_start(struct mcp_relay *r, const struct mcp_relay_ask *q, struct err *e)
{
	struct mcp_relay_call *c;
	auto_str head = NULL;
	size_t i = 0;

	while (i < RELAY_MAX && r->calls[i])
		i++;
	if (has_too_many_bytes(r))
		return err_set(e, ERR_BUSY, "too much is being answered already");
	if (i == RELAY_MAX)
		return err_set(e, ERR_BUSY, "%d requests are being answered already", RELAY_MAX);
	c = xcalloc(1, sizeof(*c));
	*c = (struct mcp_relay_call){ .relay = r,
		.piped = RUNNER_PIPED_INIT,
		.in = BUF_INIT(q->len + (64u << 10)),
		.out = BUF_INIT(RELAY_ANSWER_MAX),
		.until = clock_seconds() + RELAY_SECONDS,
		.ask = *q };
	head = json_dumps(q->head, JSON_COMPACT);
	buf_printf(&c->in, "%s\n", head ? head : "");
	buf_add(&c->in, q->body, q->len);
	if (c->in.overflow) {
		call_free(c);
		return err_set(e, ERR_USAGE, "the request's head is too long");
	}
	if (start_inside(c, q->session, e) < 0) {
		call_free(c);
		return -1;
	}
	if (watch(c) < 0) {
		call_free(c);
		return err_set(e, ERR_FAILED, "cannot wait for the task");
	}
	r->calls[i] = c;
	return 0;
}
