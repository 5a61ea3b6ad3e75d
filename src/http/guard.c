#include "http/guard.h"

#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <event2/http.h>
#include <event2/listener.h>
#include <unistd.h>

#define HIGHEST     0
#define RELIEF_USEC 50000

static void on_sweep(evutil_socket_t nobody, short what, void *arg)
{
	struct http_guard *g = arg;

	(void)nobody;
	(void)what;
	connections_sweep(&g->connections, HTTP_SECONDS);
}

static void look_later(struct http_guard *g)
{
	struct timeval soon = { .tv_usec = RELIEF_USEC };

	evtimer_add(g->relief, &soon);
}

static void on_relief(evutil_socket_t nobody, short what, void *arg)
{
	struct http_guard *g = arg;

	(void)nobody;
	(void)what;
	g->at_most = http_guard_count(g);
	if (g->at_most < HTTP_CONNECTIONS_MAX)
		evconnlistener_enable(g->listener);
	else
		look_later(g);
}

static struct bufferevent *on_connected(struct event_base *base, void *arg)
{
	struct http_guard *g = arg;
	struct bufferevent *bev = bufferevent_socket_new(base, -1, BEV_OPT_CLOSE_ON_FREE);

	if (bev && g->spec.connected)
		g->spec.connected(bev, g->spec.arg);
	/* counted only if there may be too many: that is a system call for each descriptor */
	if (++g->at_most >= HTTP_CONNECTIONS_MAX)
		g->at_most = http_guard_count(g);
	if (g->at_most >= HTTP_CONNECTIONS_MAX) {
		evconnlistener_disable(g->listener);
		look_later(g);
	}
	return bev;
}

static int set_up(struct http_guard *g, struct event_base *base, int fd)
{
	struct timeval second = { .tv_sec = 1 };

	g->http = evhttp_new(base);
	g->sweep = event_new(base, -1, EV_PERSIST, on_sweep, g);
	g->relief = evtimer_new(base, on_relief, g);
	if (!g->http || !g->sweep || !g->relief || connections_init(&g->connections, fd) < 0 ||
		event_priority_set(g->sweep, HIGHEST) < 0 || event_add(g->sweep, &second) ||
		!evhttp_bind_listener(g->http, g->listener))
		return -1;
	g->bound = true;
	evhttp_set_bevcb(g->http, on_connected, g);
	evhttp_set_gencb(g->http, g->spec.request, g->spec.arg);
	evhttp_set_max_body_size(g->http, (ev_ssize_t)g->spec.body_max);
	evhttp_set_max_headers_size(g->http, HTTP_HEAD_MAX);
	evhttp_set_timeout(g->http, HTTP_SECONDS);
	evhttp_set_allowed_methods(g->http, g->spec.methods);
	return 0;
}

int http_guard_open(struct http_guard *g, struct event_base *base, int fd, const struct http_guard_spec *spec)
{
	*g = (struct http_guard){ .spec = *spec };
	g->listener =
		evconnlistener_new(base, NULL, NULL, LEV_OPT_CLOSE_ON_EXEC | LEV_OPT_CLOSE_ON_FREE, 0, fd);
	if (!g->listener)
		close(fd);
	if (!g->listener || set_up(g, base, fd) < 0) {
		http_guard_close(g);
		return -1;
	}
	return 0;
}

void http_guard_close(struct http_guard *g)
{
	if (g->listener && !g->bound)
		evconnlistener_free(g->listener);
	/* with the listener, if it is bound, and the connections */
	if (g->http)
		evhttp_free(g->http);
	if (g->sweep)
		event_free(g->sweep);
	if (g->relief)
		event_free(g->relief);
	*g = (struct http_guard){ 0 };
}

void http_guard_stop(struct http_guard *g)
{
	evconnlistener_disable(g->listener);
	evtimer_del(g->relief);
}

unsigned http_guard_count(const struct http_guard *g)
{
	return connections_count(&g->connections);
}

int http_guard_fd(struct evhttp_request *req)
{
	struct evhttp_connection *con = evhttp_request_get_connection(req);

	return con ? bufferevent_getfd(evhttp_connection_get_bufferevent(con)) : -1;
}

void http_guard_hold(struct evhttp_request *req)
{
	struct evhttp_connection *con = evhttp_request_get_connection(req);

	bufferevent_set_timeouts(evhttp_connection_get_bufferevent(con), NULL, NULL);
}

void http_guard_grant(struct http_guard *g, struct evhttp_request *req, unsigned seconds)
{
	connections_grant(&g->connections, http_guard_fd(req), seconds);
}

void http_guard_reply(struct http_guard *g, struct evhttp_request *req, int status, struct evbuffer *body)
{
	evhttp_add_header(evhttp_request_get_output_headers(req), "Content-Type", "application/json");
	http_guard_grant(g, req, HTTP_SECONDS);
	evhttp_send_reply(req, status, status < 300 ? "OK" : "No", body);
	if (body)
		evbuffer_free(body);
}
