#include "gateway/serve.h"

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
#include "gateway/publish.h"
#include "gateway/renew.h"
#include "gateway/routes.h"
#include "gateway/sync.h"
#include "sys/guests.h"
#include "sys/pace.h"

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
	struct guests guests; /* each with the time that its next request has */
	struct event *relief; /* looks whether it can be opened again */
	unsigned at_most;     /* so many are connected */
};

struct server {
	struct gate *gate;
	struct event_base *base;
	struct door doors[2];
	unsigned linger;
	struct event *idle, *sweep, *answered, *keeper;
	struct pace pace; /* of the agent */
	bool answering;   /* what is being written is a handler's answer */
	bool spoken;      /* since the idle timer was set */
	bool leaving;     /* no command runs inside */
};

static void rest(struct server *s)
{
	struct timeval tv = { .tv_sec = s->linger, .tv_usec = s->linger ? 0 : RELIEF_USEC };

	s->spoken = false;
	evtimer_add(s->idle, &tv);
}

static bool is_alone(const struct server *s)
{
	return (s->leaving || !guests_count(&s->doors[0].guests)) && !guests_count(&s->doors[1].guests);
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

/* Nobody is awaited any more, and what is connected from inside ends with the jail. */
static void on_leave(evutil_socket_t fd, short what, void *arg)
{
	struct server *s = arg;

	s->linger = 0;
	s->spoken = false;
	evconnlistener_disable(s->doors[0].listener);
	s->leaving = true;
	on_idle(fd, what, s);
}

static void on_relief(evutil_socket_t fd, short what, void *arg)
{
	struct timeval soon = { .tv_usec = RELIEF_USEC };
	struct door *d = arg;

	(void)fd;
	(void)what;
	d->at_most = guests_count(&d->guests);
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
		guests_sweep(&s->doors[i].guests, SERVE_SECONDS);
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
		pace_keep(&d->server->pace);
	route_malformed(d->server->gate, atoi(line + 9));
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
		d->at_most = guests_count(&d->guests);
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
	publish_tidy(s->gate);
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
		pace_keep(&d->server->pace);
	gate_set_caller(d->server->gate, fd);
	status = route(d->server->gate, d->user, method_name(evhttp_request_get_command(req)),
		path ? path : "", body, len, &answer);
	gate_set_caller(d->server->gate, -1);
	text = json_dumps(answer, JSON_COMPACT);
	json_decref(answer);
	if (out && text)
		evbuffer_add_printf(out, "%s\n", text);
	evhttp_add_header(evhttp_request_get_output_headers(req), "Content-Type", "application/json");
	guests_grant(&d->guests, fd, SERVE_SECONDS);
	d->server->answering = true;
	evhttp_send_reply(req, status, status == 200 ? "OK" : "No", out);
	d->server->answering = false;
	if (publish_is_large(d->server->gate))
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
	if (!d->http || !d->listener || !d->relief || guests_init(&d->guests, fd) < 0 ||
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

static void on_renew(evutil_socket_t fd, short what, void *arg)
{
	struct server *s = arg;
	struct err ignored = ERR_INIT;

	(void)fd;
	(void)what;
	gate_renew(s->gate, &ignored);
}

static void on_sync(evutil_socket_t fd, short what, void *arg)
{
	struct server *s = arg;
	struct err ignored = ERR_INIT;

	(void)fd;
	(void)what;
	if (!gate_refresh(s->gate, &ignored))
		sync_quiet(s->gate, &ignored);
}

/* Where the keeper is gone, nobody passes orders on any more: its end is waited for like the signal. Messages
 * on that socket are the cell's to read, some of them only when it is used the next time. */
static int watch_all(struct server *s)
{
	static const struct {
		int sig;
		event_callback_fn fn;
	} signals[] = { { SIGTERM, on_over }, { SIGUSR1, on_renew }, { SIGHUP, on_sync },
		{ SIGUSR2, on_leave } };
	struct timeval second = { .tv_sec = 1 };

	s->keeper = event_new(s->base, s->gate->inside.orders, EV_CLOSED, on_over, s);
	for (size_t i = 0; i < ARRAY_SIZE(signals); i++) {
		struct event *ev = evsignal_new(s->base, signals[i].sig, signals[i].fn, s);

		if (!ev || event_priority_set(ev, URGENT) < 0 || event_add(ev, NULL))
			return -1;
	}
	s->idle = evtimer_new(s->base, on_idle, s);
	s->sweep = event_new(s->base, -1, EV_PERSIST, on_sweep, s);
	s->answered = evtimer_new(s->base, on_answered, s);
	if (!s->idle || !s->sweep || !s->answered || !s->keeper || event_priority_set(s->sweep, URGENT) < 0 ||
		event_priority_set(s->keeper, URGENT) < 0)
		return -1;
	return event_add(s->keeper, NULL) || event_add(s->sweep, &second) ? -1 : 0;
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

int serve(struct gate *g, int agent, int user, unsigned linger, struct err *e)
{
	sigset_t none;
	struct server s = { .gate = g, .linger = linger };

	pace_init(&s.pace);
	s.base = open_base();
	if (!s.base || watch_all(&s) < 0 || open_door(&s, 0, agent) < 0 || open_door(&s, 1, user) < 0)
		return err_set(e, ERR_FAILED, "cannot start the gateway");
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	rest(&s);
	s.spoken = true; /* whoever woke us is about to be accepted */
	event_base_dispatch(s.base);
	/* the process ends with this: connections are closed by the kernel */
	return 0;
}
