#include "gateway/server.h"

#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <event2/http.h>
#include <event2/http_struct.h>
#include <event2/listener.h>
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
#include "gateway/routes.h"
#include "history/sync.h"
#include "sys/connections.h"
#include "sys/rate_limit.h"

/* Signals and the clock come between any two requests. */
#define URGENT      0
#define ORDINARY    1
#define RELIEF_USEC 50000
#define TIDY_USEC   5000

struct server;

struct door {
	struct server *server;
	bool user;
	struct evhttp *http;
	struct evconnlistener *listener;
	struct connections connections; /* each with the time that its next request has */
	struct event *relief;           /* looks whether it can be opened again */
	unsigned at_most;               /* so many are connected */
};

struct server {
	struct gateway *gateway;
	struct event_base *base;
	struct door doors[2];
	unsigned linger;
	struct event *idle, *sweep, *answered, *keeper;
	struct rate_limit pace; /* of the agent */
	bool answering;         /* what is being written is a handler's answer */
	bool spoken;            /* since the idle timer was set */
	bool leaving;           /* no command runs inside */
};

static void rest(struct server *s)
{
	struct timeval tv = { .tv_sec = s->linger, .tv_usec = s->linger ? 0 : RELIEF_USEC };

	s->spoken = false;
	evtimer_add(s->idle, &tv);
}

static bool is_alone(const struct server *s)
{
	return (s->leaving || !connections_count(&s->doors[0].connections)) &&
	       !connections_count(&s->doors[1].connections);
}

/* Whether it is time to go: nobody is connected, and nobody was since the last look. */
static void on_idle(evutil_socket_t fd, short what, void *arg)
{
	struct server *s = arg;

	(void)fd;
	(void)what;
	if (!s->spoken && is_alone(s))
		event_base_loopexit(s->base, NULL);
	else
		rest(s);
}

static void on_relief(evutil_socket_t fd, short what, void *arg)
{
	struct timeval soon = { .tv_usec = RELIEF_USEC };
	struct door *d = arg;

	(void)fd;
	(void)what;
	d->at_most = connections_count(&d->connections);
	if (d->at_most < SERVE_CONNECTIONS_MAX)
		evconnlistener_enable(d->listener);
	else
		evtimer_add(d->relief, &soon);
}

/* evhttp's own time-out begins anew with every byte: who sends one now and then would stay for ever. */
static void on_sweep(evutil_socket_t nobody, short what, void *arg)
{
	struct server *s = arg;

	(void)nobody;
	(void)what;
	for (size_t i = 0; i < ARRAY_SIZE(s->doors); i++)
		connections_sweep(&s->doors[i].connections, SERVE_SECONDS);
}

/* What the server answers by itself, without a handler, is an answer to something that was no request. */
static void on_output(struct evbuffer *out, const struct evbuffer_cb_info *info, void *arg)
{
	struct door *d = arg;
	char line[13] = "";

	if (!info->n_added || info->orig_size || d->server->answering)
		return;
	if (evbuffer_copyout(out, line, 12) != 12 || strncmp(line, "HTTP/1.", 7) || line[9] < '4')
		return;
	if (!d->user)
		rate_limit_wait(&d->server->pace);
	route_malformed(d->server->gateway, atoi(line + 9));
}

static struct bufferevent *on_connected(struct event_base *base, void *arg)
{
	struct door *d = arg;
	struct bufferevent *bev = bufferevent_socket_new(base, -1, BEV_OPT_CLOSE_ON_FREE);
	struct timeval soon = { .tv_usec = RELIEF_USEC };

	d->server->spoken = true;
	if (bev)
		evbuffer_add_cb(bufferevent_get_output(bev), on_output, d);
	/* counted only where there may be too many */
	if (++d->at_most >= SERVE_CONNECTIONS_MAX)
		d->at_most = connections_count(&d->connections);
	if (d->at_most >= SERVE_CONNECTIONS_MAX) {
		evconnlistener_disable(d->listener);
		evtimer_add(d->relief, &soon);
	}
	return bev;
}

/* The connection of a request. The time that its handling takes does not count as the asker's: evhttp would
 * end it for that before the answer is sent; on_sweep goes on looking after it. */
static int take_caller(struct evhttp_request *req)
{
	struct bufferevent *bev = evhttp_connection_get_bufferevent(evhttp_request_get_connection(req));

	bufferevent_set_timeouts(bev, NULL, NULL);
	return bufferevent_getfd(bev);
}

static const char *method_name(enum evhttp_cmd_type type)
{
	return type == EVHTTP_REQ_GET ? "GET" : type == EVHTTP_REQ_POST ? "POST" : "other";
}

/* The answer is written by then, and whoever waited for it had the processor. */
static void on_answered(evutil_socket_t fd, short what, void *arg)
{
	struct server *s = arg;

	(void)fd;
	(void)what;
	publish_tidy(&s->gateway->pub);
}

/* Who has gone away does not wait for an answer. */
static bool has_left(int fd)
{
	struct pollfd p = { .fd = fd };

	return poll(&p, 1, 0) > 0 && (p.revents & (POLLHUP | POLLERR));
}

static void on_request(struct evhttp_request *req, void *arg)
{
	struct door *d = arg;
	struct evbuffer *in = evhttp_request_get_input_buffer(req), *out = evbuffer_new();
	size_t len = evbuffer_get_length(in);
	const char *body = len ? (const char *)evbuffer_pullup(in, -1) : "";
	const char *path = evhttp_uri_get_path(evhttp_request_get_evhttp_uri(req));
	json_t *answer = NULL;
	auto_str text = NULL;
	int fd = take_caller(req), status;
	struct timeval soon = { .tv_usec = TIDY_USEC };

	if (!d->user && has_left(fd)) {
		d->server->answering = true;
		evhttp_send_reply(req, 408, "No", NULL);
		d->server->answering = false;
		if (out)
			evbuffer_free(out);
		return;
	}
	if (!d->user)
		rate_limit_wait(&d->server->pace);
	publisher_set_caller(&d->server->gateway->pub, fd);
	status = route(d->server->gateway, d->user, method_name(evhttp_request_get_command(req)),
		path ? path : "", body, len, &answer);
	publisher_set_caller(&d->server->gateway->pub, -1);
	text = json_dumps(answer, JSON_COMPACT);
	json_decref(answer);
	if (out && text)
		evbuffer_add_printf(out, "%s\n", text);
	evhttp_add_header(evhttp_request_get_output_headers(req), "Content-Type", "application/json");
	connections_grant(&d->connections, fd, SERVE_SECONDS);
	d->server->answering = true;
	evhttp_send_reply(req, status, status == 200 ? "OK" : "No", out);
	d->server->answering = false;
	/* a job that came while a command inside was waited for */
	if (d->server->gateway->in.runner.jobs)
		event_active(d->server->keeper, EV_READ, 0);
	if (publish_is_large(&d->server->gateway->pub))
		evtimer_add(d->server->answered, &soon);
	if (out)
		evbuffer_free(out);
}

static int open_door(struct server *s, int i, int fd)
{
	struct door *d = &s->doors[i];

	*d = (struct door){ .server = s, .user = i };
	d->http = evhttp_new(s->base);
	d->listener = evconnlistener_new(s->base, NULL, NULL, LEV_OPT_CLOSE_ON_EXEC, 0, fd);
	d->relief = evtimer_new(s->base, on_relief, d);
	if (!d->http || !d->listener || !d->relief || connections_init(&d->connections, fd) < 0 ||
		!evhttp_bind_listener(d->http, d->listener))
		return -1;
	evhttp_set_bevcb(d->http, on_connected, d);
	evhttp_set_gencb(d->http, on_request, d);
	evhttp_set_max_body_size(d->http, SERVE_BODY_MAX);
	evhttp_set_max_headers_size(d->http, SERVE_HEAD_MAX);
	evhttp_set_timeout(d->http, SERVE_SECONDS);
	evhttp_set_allowed_methods(d->http,
		EVHTTP_REQ_GET | EVHTTP_REQ_POST | EVHTTP_REQ_PUT | EVHTTP_REQ_DELETE | EVHTTP_REQ_HEAD);
	return 0;
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
	evconnlistener_disable(s->doors[0].listener);
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
	while ((jobs = s->gateway->in.runner.jobs)) {
		s->gateway->in.runner.jobs = 0;
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
	if (runner_listen(&s->gateway->in.runner) < 0) {
		event_del(s->keeper);
		event_base_loopexit(s->base, NULL);
	}
	do_jobs(s);
}

static int watch_all(struct server *s)
{
	struct timeval second = { .tv_sec = 1 };
	struct event *term = evsignal_new(s->base, SIGTERM, on_over, s);

	s->keeper = event_new(s->base, s->gateway->in.runner.orders, EV_READ | EV_PERSIST, on_keeper, s);
	s->idle = evtimer_new(s->base, on_idle, s);
	s->sweep = event_new(s->base, -1, EV_PERSIST, on_sweep, s);
	s->answered = evtimer_new(s->base, on_answered, s);
	if (!s->idle || !s->sweep || !s->answered || !s->keeper || !term ||
		event_priority_set(s->sweep, URGENT) < 0 || event_priority_set(s->keeper, URGENT) < 0 ||
		event_priority_set(term, URGENT) < 0)
		return -1;
	return event_add(term, NULL) || event_add(s->keeper, NULL) || event_add(s->sweep, &second) ? -1 : 0;
}

static struct event_base *open_base(void)
{
	struct event_config *how = event_config_new();
	struct event_base *base = NULL;

	if (how && !event_config_set_max_dispatch_interval(how, NULL, 1, ORDINARY))
		base = event_base_new_with_config(how);
	if (how)
		event_config_free(how);
	return base && !event_base_priority_init(base, ORDINARY + 1) ? base : NULL;
}

int serve(struct gateway *g, int agent, int user, unsigned linger, struct err *e)
{
	struct server s = { .gateway = g, .linger = linger };

	rate_limit_init(&s.pace);
	s.base = open_base();
	if (!s.base || watch_all(&s) < 0 || open_door(&s, 0, agent) < 0 || open_door(&s, 1, user) < 0)
		return err_set(e, ERR_FAILED, "cannot start the gateway");
	rest(&s);
	s.spoken = true; /* whoever woke us is about to be accepted */
	event_base_dispatch(s.base);
	/* the process ends with this: connections are closed by the kernel */
	return 0;
}
