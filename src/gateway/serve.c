#include "gateway/serve.h"

#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <event2/http.h>
#include <event2/http_struct.h>
#include <event2/listener.h>
#include <jansson.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "base/alloc.h"
#include "gateway/renew.h"
#include "gateway/routes.h"

#define FDS_LOOKED_AT 256
#define RELIEF_USEC   50000

struct server;

struct door {
	struct server *server;
	bool user;
	struct evhttp *http;
	struct evconnlistener *listener;
};

struct server {
	struct gate *gate;
	struct event_base *base;
	struct door doors[2];
	unsigned linger;
	struct event *idle, *relief;
	bool answered; /* the answer that is being written is a handler's */
	bool spoken;   /* since the idle timer was set */
};

/* An accepted connection has the name of the socket that it came to; the process' own pairs have none. */
static bool is_named(int fd)
{
	struct sockaddr_un name;
	socklen_t len = sizeof(name);

	return !getsockname(fd, (struct sockaddr *)&name, &len) && len > offsetof(struct sockaddr_un, sun_path);
}

/* evhttp does not tell when a connection ends: what is connected is counted by asking the kernel. */
static unsigned count_connections(const struct server *s)
{
	int listeners[2] = { evconnlistener_get_fd(s->doors[0].listener),
		evconnlistener_get_fd(s->doors[1].listener) };
	unsigned n = 0;

	for (int fd = 3; fd < FDS_LOOKED_AT; fd++) {
		int listens = 0, type = 0, domain = 0;
		socklen_t len = sizeof(int);

		if (fd == listeners[0] || fd == listeners[1] ||
			getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &len) < 0)
			continue;
		getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &len);
		getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &len);
		n += type == SOCK_STREAM && domain == AF_UNIX && !listens && is_named(fd);
	}
	return n;
}

static void rest(struct server *s)
{
	struct timeval tv = { .tv_sec = s->linger, .tv_usec = s->linger ? 0 : RELIEF_USEC };

	s->spoken = false;
	evtimer_add(s->idle, &tv);
}

static void set_listening(struct server *s, bool on)
{
	for (int i = 0; i < 2; i++)
		if (on)
			evconnlistener_enable(s->doors[i].listener);
		else
			evconnlistener_disable(s->doors[i].listener);
}

/* Whether it is time to go: nobody is connected, and nobody was since the last look. */
static void on_idle(evutil_socket_t fd, short what, void *arg)
{
	struct server *s = arg;

	(void)fd;
	(void)what;
	if (!s->spoken && !count_connections(s))
		event_base_loopexit(s->base, NULL);
	else
		rest(s);
}

static void on_relief(evutil_socket_t fd, short what, void *arg)
{
	struct server *s = arg;
	struct timeval soon = { .tv_usec = RELIEF_USEC };

	(void)fd;
	(void)what;
	if (count_connections(s) < SERVE_CONNECTIONS_MAX)
		set_listening(s, true);
	else
		evtimer_add(s->relief, &soon);
}

/* What the server answers by itself, without a handler, is an answer to something that was no request. */
static void on_output(struct evbuffer *out, const struct evbuffer_cb_info *info, void *arg)
{
	struct server *s = arg;
	char line[13] = "";

	if (!info->n_added || info->orig_size)
		return;
	if (!s->answered && evbuffer_copyout(out, line, 12) == 12 && !strncmp(line, "HTTP/1.", 7) && line[9] == '4')
		route_malformed(s->gate, atoi(line + 9));
	s->answered = false;
}

static struct bufferevent *on_connected(struct event_base *base, void *arg)
{
	struct server *s = arg;
	struct bufferevent *bev = bufferevent_socket_new(base, -1, BEV_OPT_CLOSE_ON_FREE);
	struct timeval soon = { .tv_usec = RELIEF_USEC };

	s->spoken = true;
	if (bev)
		evbuffer_add_cb(bufferevent_get_output(bev), on_output, s);
	if (count_connections(s) >= SERVE_CONNECTIONS_MAX) {
		set_listening(s, false);
		evtimer_add(s->relief, &soon);
	}
	return bev;
}

static const char *method_name(enum evhttp_cmd_type type)
{
	return type == EVHTTP_REQ_GET ? "GET" : type == EVHTTP_REQ_POST ? "POST" : "other";
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
	int status;

	status = route(d->server->gate, d->user, method_name(evhttp_request_get_command(req)),
		path ? path : "", body, len, &answer);
	text = json_dumps(answer, JSON_COMPACT);
	json_decref(answer);
	if (out && text)
		evbuffer_add_printf(out, "%s\n", text);
	evhttp_add_header(evhttp_request_get_output_headers(req), "Content-Type", "application/json");
	d->server->answered = true;
	evhttp_send_reply(req, status, status == 200 ? "OK" : "No", out);
	if (out)
		evbuffer_free(out);
}

static int open_door(struct server *s, int i, int fd)
{
	struct door *d = &s->doors[i];

	*d = (struct door){ .server = s, .user = i };
	d->http = evhttp_new(s->base);
	d->listener = evconnlistener_new(s->base, NULL, NULL, LEV_OPT_CLOSE_ON_EXEC, 0, fd);
	if (!d->http || !d->listener || !evhttp_bind_listener(d->http, d->listener))
		return -1;
	evhttp_set_bevcb(d->http, on_connected, s);
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
	event_base_loopexit(arg, NULL);
}

static void on_renew(evutil_socket_t fd, short what, void *arg)
{
	struct server *s = arg;
	struct err ignored = ERR_INIT;

	(void)fd;
	(void)what;
	gate_renew(s->gate, &ignored);
}

/* The keeper is gone: nobody passes orders on any more. */
static void on_keeper(evutil_socket_t fd, short what, void *arg)
{
	char byte;

	(void)what;
	if (recv(fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0)
		event_base_loopexit(arg, NULL);
}

int serve(struct gate *g, int agent, int user, unsigned linger, struct err *e)
{
	struct server s = { .gate = g, .linger = linger };
	struct event *term, *usr1, *keeper;

	signal(SIGPIPE, SIG_IGN);
	s.base = event_base_new();
	if (!s.base)
		return err_set(e, ERR_FAILED, "cannot start the gateway");
	s.idle = evtimer_new(s.base, on_idle, &s);
	s.relief = evtimer_new(s.base, on_relief, &s);
	term = evsignal_new(s.base, SIGTERM, on_over, s.base);
	usr1 = evsignal_new(s.base, SIGUSR1, on_renew, &s);
	keeper = event_new(s.base, g->inside.orders, EV_READ | EV_PERSIST, on_keeper, s.base);
	if (!s.idle || !s.relief || !term || !usr1 || !keeper || open_door(&s, 0, agent) < 0 || open_door(&s, 1, user) < 0)
		return err_set(e, ERR_FAILED, "cannot start the gateway");
	event_add(term, NULL);
	event_add(usr1, NULL);
	event_add(keeper, NULL);
	rest(&s);
	s.spoken = true; /* whoever woke us is about to be accepted */
	event_base_dispatch(s.base);
	/* the process ends with this: connections are closed by the kernel */
	return 0;
}
