#include "gateway/server.h"

#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <event2/http.h>
#include <jansson.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "publish/publish.h"
#include "history/renew.h"
#include "gateway/main.h"
#include "gateway/mcp_http.h"
#include "gateway/routes.h"
#include "gateway/ticket_relay.h"
#include "history/sync.h"
#include "http/guard.h"
#include "http/loop.h"
#include "sys/rate_limit.h"

/* Signals and the clock come between any two requests. */
#define URGENT    0
#define ORDINARY  1
#define IDLE_USEC 50000
#define TIDY_USEC 5000

struct server;

struct listener {
	struct server *server;
	bool user;
	struct http_guard guard;
};

struct server {
	struct gateway *gateway;
	struct event_base *base;
	struct listener listeners[2]; /* the agent's, the user's */
	unsigned linger;
	struct event *idle, *answered, *keeper;
	struct mcp_relay relay;
	struct ticket_relay tickets;
	struct rate_limit pace; /* of the agent */
	bool answering;         /* what is being written is a handler's answer */
	bool spoken;            /* since the idle timer was set */
	bool leaving;           /* no command runs inside */
};

static void rest(struct server *s)
{
	struct timeval tv = { .tv_sec = s->linger, .tv_usec = s->linger ? 0 : IDLE_USEC };

	s->spoken = false;
	evtimer_add(s->idle, &tv);
}

static bool has_no_clients(const struct server *s)
{
	return (s->leaving || !http_guard_count(&s->listeners[0].guard)) &&
	       !http_guard_count(&s->listeners[1].guard);
}

/* Whether it is time to go: nobody is connected, and nobody was since the last look. */
static void on_idle(evutil_socket_t fd, short what, void *arg)
{
	struct server *s = arg;

	(void)fd;
	(void)what;
	if (!s->spoken && has_no_clients(s))
		event_base_loopexit(s->base, NULL);
	else
		rest(s);
}

/* What the server answers by itself, without a handler, is an answer to something that was no request. */
static void on_output(struct evbuffer *out, const struct evbuffer_cb_info *info, void *arg)
{
	struct listener *l = arg;
	char line[13] = "";

	if (!info->n_added || info->orig_size || l->server->answering)
		return;
	if (evbuffer_copyout(out, line, 12) != 12 || strncmp(line, "HTTP/1.", 7) || line[9] < '4')
		return;
	if (!l->user)
		rate_limit_wait(&l->server->pace);
	route_malformed(l->server->gateway, atoi(line + 9));
}

static void on_connected(struct bufferevent *bev, void *arg)
{
	struct listener *l = arg;

	l->server->spoken = true;
	evbuffer_add_cb(bufferevent_get_output(bev), on_output, l);
}

static const char *method_name(enum evhttp_cmd_type type)
{
	return type == EVHTTP_REQ_GET ? "GET" : type == EVHTTP_REQ_POST ? "POST" : "other";
}

/* Does the jobs that came while a command inside was waited for: their messages are read already. */
static void wake_for_jobs(struct server *s)
{
	if (s->gateway->in.runner->jobs)
		event_active(s->keeper, EV_READ, 0);
}

/* The answer is written by then, and the client that waited for it has had the processor. */
static void on_answered(evutil_socket_t fd, short what, void *arg)
{
	struct server *s = arg;

	(void)fd;
	(void)what;
	publish_tidy(&s->gateway->pub);
	wake_for_jobs(s);
}

/* Who has gone away does not wait for an answer. */
static bool has_left(int fd)
{
	struct pollfd p = { .fd = fd };

	return poll(&p, 1, 0) > 0 && (p.revents & (POLLHUP | POLLERR));
}

static void reply(struct listener *l, struct evhttp_request *req, int status, struct evbuffer *body)
{
	l->server->answering = true;
	http_guard_reply(&l->guard, req, status, body);
	l->server->answering = false;
}

static struct evbuffer *body_of(json_t *answer)
{
	struct evbuffer *body = evbuffer_new();
	auto_str text = json_dumps(answer, JSON_COMPACT);

	if (body && text)
		evbuffer_add_printf(body, "%s\n", text);
	json_decref(answer);
	return body;
}

/* A request that the inside answers. */
struct relayed {
	struct listener *listener;
	struct evhttp_request *req;
};

static void on_relayed(void *arg, int status, const char *session, const char *body, size_t len)
{
	struct relayed *r = arg;
	struct evkeyvalq *headers = evhttp_request_get_output_headers(r->req);
	struct evbuffer *out = len ? evbuffer_new() : NULL;

	if (out)
		evbuffer_add(out, body, len);
	if (session && strspn(session, "0123456789abcdef-") == strlen(session))
		evhttp_add_header(headers, "Mcp-Session-Id", session);
	if (status == 405)
		evhttp_add_header(headers, "Allow", "POST");
	reply(r->listener, r->req, status ? status : 504, out);
	free(r);
}

static bool is_wanted(void *arg)
{
	const struct relayed *r = arg;
	int fd = http_guard_fd(r->req);

	return fd >= 0 && !has_left(fd);
}

/* Nothing is recorded of it, so it has no pace; the relay limits it. */
static void relay(
	struct listener *l, struct evhttp_request *req, const char *path, const char *body, size_t len)
{
	struct relayed *r = xcalloc(1, sizeof(*r));

	*r = (struct relayed){ l, req };
	http_guard_grant(&l->guard, req, RELAY_SECONDS + HTTP_SECONDS);
	mcp_http_answer(&l->server->relay, &(struct mcp_http_ask){ .req = req,
						   .method = method_name(evhttp_request_get_command(req)),
						   .path = path,
						   .body = body,
						   .len = len,
						   .fn = on_relayed,
						   .wanted = is_wanted,
						   .arg = r });
}

static void on_tickets(void *arg, int status, json_t *answer)
{
	struct relayed *r = arg;

	reply(r->listener, r->req, status, body_of(answer));
	wake_for_jobs(r->listener->server);
	free(r);
}

/* May block for long, in another process. */
static void ask_tickets(
	struct listener *l, struct evhttp_request *req, const char *path, const char *body, size_t len)
{
	struct relayed *r = xcalloc(1, sizeof(*r));

	*r = (struct relayed){ l, req };
	http_guard_grant(&l->guard, req, TICKETS_SECONDS + HTTP_SECONDS);
	rate_limit_wait(&l->server->pace);
	ticket_relay_start(&l->server->tickets,
		&(struct ticket_relay_ask){ .method = method_name(evhttp_request_get_command(req)),
			.path = path,
			.body = body,
			.len = len,
			.client = http_guard_fd(req),
			.fn = on_tickets,
			.wanted = is_wanted,
			.arg = r });
}

static void on_request(struct evhttp_request *req, void *arg)
{
	struct listener *l = arg;
	struct server *s = l->server;
	struct evbuffer *in = evhttp_request_get_input_buffer(req);
	size_t len = evbuffer_get_length(in);
	const char *body = len ? (const char *)evbuffer_pullup(in, -1) : "";
	const char *path = evhttp_uri_get_path(evhttp_request_get_evhttp_uri(req));
	struct timeval soon = { .tv_usec = TIDY_USEC };
	json_t *answer = NULL;
	int fd = http_guard_fd(req), status;

	http_guard_hold(req);
	if (!l->user && has_left(fd)) {
		reply(l, req, 408, NULL);
		return;
	}
	if (!l->user && path && mcp_http_is(path)) {
		relay(l, req, path, body, len);
		return;
	}
	if (!l->user && path && ticket_relay_is(path)) {
		ask_tickets(l, req, path, body, len);
		return;
	}
	if (!l->user)
		rate_limit_wait(&s->pace);
	publisher_set_caller(&s->gateway->pub, fd);
	status = route(s->gateway,
		&(struct route_ask){ .user = l->user,
			.method = method_name(evhttp_request_get_command(req)),
			.path = path ? path : "",
			.session = mcp_http_session(req, path ? path : ""),
			.body = body,
			.len = len },
		&answer);
	publisher_set_caller(&s->gateway->pub, -1);
	reply(l, req, status, body_of(answer));
	wake_for_jobs(s);
	if (publish_is_large(&s->gateway->pub))
		evtimer_add(s->answered, &soon);
}

static int open_listener(struct server *s, int i, int fd)
{
	struct listener *l = &s->listeners[i];
	const struct http_guard_spec spec = { .body_max = GATEWAY_BODY_MAX,
		.methods = EVHTTP_REQ_GET | EVHTTP_REQ_POST | EVHTTP_REQ_PUT | EVHTTP_REQ_DELETE |
			   EVHTTP_REQ_HEAD,
		.request = on_request,
		.connected = on_connected,
		.arg = l };

	l->server = s;
	l->user = i;
	return http_guard_open(&l->guard, s->base, fd, &spec);
}

static void on_over(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	event_base_loopexit(((struct server *)arg)->base, NULL);
}

/* Nobody is awaited any more, and what is connected from inside ends with the jail. */
static void leave(struct server *s)
{
	s->linger = 0;
	s->spoken = false;
	http_guard_stop(&s->listeners[0].guard);
	s->leaving = true;
	on_idle(-1, 0, s);
}

static void sync_now(struct server *s)
{
	struct err ignored = ERR_INIT;

	if (!inside_refresh(&s->gateway->in, &ignored))
		sync_quiet(&s->gateway->pub, &ignored);
}

static void do_jobs(struct server *s)
{
	struct err ignored = ERR_INIT;
	uint32_t jobs;

	/* more may come while one is done */
	while ((jobs = s->gateway->in.runner->jobs)) {
		s->gateway->in.runner->jobs = 0;
		if (jobs & 1u << GATEWAY_RENEW)
			renew_shown(&s->gateway->in, &ignored);
		if (jobs & 1u << GATEWAY_SYNC)
			sync_now(s);
		if (jobs & 1u << GATEWAY_LEAVE)
			leave(s);
		if (jobs & 1u << GATEWAY_FINISH)
			event_base_loopexit(s->base, NULL);
	}
}

/* The keeper has said something, or is gone: then nobody passes orders on any more. */
static void on_keeper(evutil_socket_t fd, short what, void *arg)
{
	struct server *s = arg;

	(void)fd;
	(void)what;
	if (runner_listen(s->gateway->in.runner) < 0) {
		event_del(s->keeper);
		event_base_loopexit(s->base, NULL);
	}
	do_jobs(s);
}

static int watch_all(struct server *s)
{
	struct event *term = evsignal_new(s->base, SIGTERM, on_over, s);

	s->keeper = event_new(s->base, s->gateway->in.runner->orders, EV_READ | EV_PERSIST, on_keeper, s);
	s->idle = evtimer_new(s->base, on_idle, s);
	s->answered = evtimer_new(s->base, on_answered, s);
	if (!s->idle || !s->answered || !s->keeper || !term || event_priority_set(s->keeper, URGENT) < 0 ||
		event_priority_set(term, URGENT) < 0)
		return -1;
	return event_add(term, NULL) || event_add(s->keeper, NULL) ? -1 : 0;
}

static struct event_base *open_base(void)
{
	struct event_config *how = event_config_new();
	struct event_base *base = NULL;

	if (how && !event_config_set_max_dispatch_interval(how, NULL, 1, ORDINARY))
		base = loop_new(how);
	else if (how)
		event_config_free(how);
	return base && !event_base_priority_init(base, ORDINARY + 1) ? base : NULL;
}

int serve(struct gateway *g, int agent, int user, unsigned linger, struct err *e)
{
	struct server s = { .gateway = g, .linger = linger };

	rate_limit_init(&s.pace);
	s.base = open_base();
	s.tickets = (struct ticket_relay){ .base = s.base, .gateway = g };
	s.relay = (struct mcp_relay){ .base = s.base, .in = &g->in };
	if (!s.base || watch_all(&s) < 0 || open_listener(&s, 0, agent) < 0 || open_listener(&s, 1, user) < 0)
		return err_set(e, ERR_FAILED, "cannot start the gateway");
	rest(&s);
	s.spoken = true; /* the connection that woke us is about to be accepted */
	event_base_dispatch(s.base);
	/* the process ends with this: connections are closed by the kernel */
	return 0;
}
