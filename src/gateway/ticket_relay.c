#include "gateway/ticket_relay.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "gateway/routes.h"
#include "history/tickets.h"
#include "sys/clock.h"
#include "sys/fd.h"
#include "sys/proc.h"

#define ANSWER_MAX   (16u << 20)
#define LOOK_SECONDS 1
#define SHOWN_MAX    1000

struct ticket_call {
	struct ticket_relay *relay;
	pid_t pid;
	int out;
	struct event *readable, *look;
	struct buf text;
	time_t until;
	struct ticket_relay_ask ask; /* its body is no longer valid */
	char *path;
};

bool ticket_relay_is(const char *path)
{
	size_t n = strlen(TICKETS_PATH);

	return !strncmp(path, TICKETS_PATH, n) && (!path[n] || path[n] == '/');
}

static void call_free(struct ticket_call *c)
{
	if (c->readable)
		event_free(c->readable);
	if (c->look)
		event_free(c->look);
	for (size_t i = 0; i < TICKETS_AT_ONCE; i++)
		if (c->relay->calls[i] == c)
			c->relay->calls[i] = NULL;
	fd_closep(&c->out);
	buf_release(&c->text);
	free(c->path);
	free(c);
}

static json_t *error_of(const char *code, const char *message)
{
	return json_pack("{s:{s:s, s:s}}", "error", "code", code, "message", message);
}

static void refuse_it(struct ticket_relay *r, const struct ticket_relay_ask *q, int status, const char *code,
	const char *message)
{
	(void)r;
	q->fn(q->arg, status, error_of(code, message));
}

/* The refs that the process wants to be shown inside. */
static int show(struct ticket_relay *r, const json_t *list, struct err *e)
{
	size_t n = json_array_size(list), i;
	struct ticket_ref *v = xcalloc(n + 1, sizeof(*v));
	json_t *o;
	int rc;

	if (n > SHOWN_MAX)
		n = SHOWN_MAX;
	json_array_foreach((json_t *)list, i, o)
	{
		if (i >= n)
			break;
		v[i].ticket = json_integer_value(json_object_get(o, "ticket"));
		v[i].ref = xstrdup(json_string_value(json_object_get(o, "ref")));
		snprintf(v[i].tip, sizeof(v[i].tip), "%s", json_string_value(json_object_get(o, "tip")));
	}
	rc = n ? tickets_show(&r->gateway->in, v, n, e) : 0;
	for (i = 0; i < n; i++)
		free(v[i].ref);
	free(v);
	return rc;
}

static json_t *list_of(const struct strvec *v)
{
	json_t *ret = json_array();

	for (size_t i = 0; i < v->n && i < 100; i++)
		json_array_append_new(ret, audit_text(v->v[i]));
	return ret;
}

/* 1: *ret has the refusal. */
static int merge(struct ticket_relay *r, const json_t *what, json_t *answer, json_t **ret, struct err *e)
{
	auto_strvec conflicts = STRVEC_INIT;
	struct refusal no = { 0 };
	int rc;

	if (!what)
		return 0;
	rc = tickets_merge(
		&r->gateway->pub, json_string_value(json_object_get(what, "ref")), &conflicts, &no, e);
	if (rc > 0) {
		err_set(e, ERR_CONFLICT, "%zu file%s conflict", conflicts.n, conflicts.n == 1 ? "" : "s");
		*ret = error_of("conflict", e->msg);
		json_object_set_new(json_object_get(*ret, "error"), "files", list_of(&conflicts));
		return 1;
	}
	if (!rc)
		json_object_set_new(answer, "state", json_string("merged"));
	return rc;
}

static void answer(struct ticket_call *c, json_t *whole)
{
	int status = (int)json_integer_value(json_object_get(whole, "status"));
	json_t *body = json_object_get(whole, "answer"), *instead = NULL;
	struct gateway *g = c->relay->gateway;
	struct err e = ERR_INIT;

	publisher_set_caller(&g->pub, c->ask.client);
	if (status < 300 &&
		(inside_refresh(&g->in, &e) < 0 || show(c->relay, json_object_get(whole, "show"), &e) < 0 ||
			merge(c->relay, json_object_get(whole, "merge"), body, &instead, &e) != 0)) {
		status = err_http_status(e.kind);
		body = instead ? instead : (instead = error_of(err_code(e.kind), e.msg));
	}
	publisher_set_caller(&g->pub, -1);
	if (status >= 400)
		route_refused(g, c->path, json_object_get(body, "error"));
	c->ask.fn(c->ask.arg, status, json_incref(body));
	json_decref(instead);
}

/* The process is our own, so its output is trusted. */
static void finish(struct ticket_call *c, bool whole)
{
	json_t *text = NULL;
	int status = 0;

	if (!whole)
		kill(c->pid, SIGKILL);
	while (waitpid(c->pid, &status, 0) < 0 && errno == EINTR)
		;
	if (whole && !c->text.overflow)
		text = json_loadb(buf_str(&c->text), c->text.len, 0, NULL);
	if (json_object_get(text, "answer"))
		answer(c, text);
	else
		refuse_it(c->relay, &c->ask, whole ? 500 : 504, "failed",
			"the request about tickets could not be answered");
	json_decref(text);
	call_free(c);
}

static void on_readable(evutil_socket_t fd, short what, void *arg)
{
	struct ticket_call *c = arg;
	char piece[32768];
	ssize_t n = read(fd, piece, sizeof(piece));

	(void)what;
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0 || !buf_add(&c->text, piece, (size_t)n))
		finish(c, n == 0);
}

static void on_look(evutil_socket_t fd, short what, void *arg)
{
	struct ticket_call *c = arg;

	(void)fd;
	(void)what;
	if (clock_seconds() >= c->until || !c->ask.wanted(c->ask.arg))
		finish(c, false);
}

static int start(struct ticket_call *c, const struct ticket_relay_ask *q, struct err *e)
{
	auto_str task = xasprintf("%lld", (long long)c->relay->gateway->in.task.id);
	/* this program's file, even if it was replaced on the disk */
	char *argv[] = { "/proc/self/exe", "ticket-request", task, (char *)q->method,
		(char *)q->path + strlen(TICKETS_PATH), NULL };
	auto_fd body = fd_of_bytes("body", q->body, q->len);
	struct proc_spec p = { .argv = argv, .env = environ, .stdin_fd = body };
	struct timeval look = { .tv_sec = LOOK_SECONDS };

	if (body < 0)
		return err_sys(e, "cannot keep the request");
	if (proc_start(&p, &c->out, &c->pid, e) < 0)
		return -1;
	fd_nonblock(c->out);
	c->readable = event_new(c->relay->base, c->out, EV_READ | EV_PERSIST, on_readable, c);
	c->look = event_new(c->relay->base, -1, EV_PERSIST, on_look, c);
	if (c->readable && c->look && !event_add(c->readable, NULL) && !event_add(c->look, &look))
		return 0;
	kill(c->pid, SIGKILL);
	waitpid(c->pid, NULL, 0);
	return err_set(e, ERR_FAILED, "cannot wait for an answer");
}

void ticket_relay_start(struct ticket_relay *r, const struct ticket_relay_ask *q)
{
	struct ticket_call *c;
	struct err e = ERR_INIT;
	size_t i = 0;

	while (i < TICKETS_AT_ONCE && r->calls[i])
		i++;
	if (i == TICKETS_AT_ONCE) {
		refuse_it(r, q, 429, "too_soon",
			"too many requests about tickets are being answered: wait for one");
		return;
	}
	c = xcalloc(1, sizeof(*c));
	*c = (struct ticket_call){ .relay = r,
		.out = -1,
		.text = BUF_INIT(ANSWER_MAX),
		.until = clock_seconds() + TICKETS_SECONDS,
		.ask = *q,
		.path = xstrdup(q->path) };
	if (start(c, q, &e) < 0) {
		refuse_it(r, q, 500, err_code(e.kind), e.msg);
		call_free(c);
		return;
	}
	r->calls[i] = c;
}
