/*
 * A guard for an HTTP/1.1 server (libevent's evhttp): one listening socket, and limits on what its clients
 * may take.
 *
 * Limits: HTTP_HEAD_MAX for a head, `body_max` for a body, HTTP_SECONDS for a request to arrive and for its
 * answer to be taken, HTTP_CONNECTIONS_MAX connections at once; more wait until one ends. The head, the body
 * and the requests themselves are evhttp's work. Time and number are not: evhttp's time-out starts again with
 * every byte, so a client that sends one now and then would never be disconnected, and evhttp does not tell when a
 * connection ends (sys/connections.h).
 *
 *	struct http_guard g;
 *	if (http_guard_open(&g, base, fd, &(struct http_guard_spec){ .request = on_request, … }) < 0) …
 *
 *	on_request: http_guard_hold(req) if the work takes time, then http_guard_reply(&g, req, 200, body)
 */
#ifndef HTTP_GUARD_H
#define HTTP_GUARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sys/connections.h"

#define HTTP_HEAD_MAX        (16u << 10)
#define HTTP_SECONDS         10
#define HTTP_CONNECTIONS_MAX 32

struct bufferevent;
struct evbuffer;
struct evconnlistener;
struct event;
struct event_base;
struct evhttp;
struct evhttp_request;

struct http_guard_spec {
	size_t body_max;
	uint16_t methods; /* EVHTTP_REQ_…; evhttp answers others by itself */
	void (*request)(struct evhttp_request *req, void *arg);
	void (*connected)(struct bufferevent *bev, void *arg); /* for each new connection; NULL is fine */
	void *arg;
};

struct http_guard {
	struct http_guard_spec spec;
	struct evhttp *http;
	struct evconnlistener *listener;
	struct connections connections; /* each with the time that its next request has */
	struct event *sweep, *relief;   /* once a second; while there are too many */
	unsigned at_most;               /* so many are connected */
	bool bound;                     /* the listener belongs to http */
};

/* Serves for as long as the loop runs. The descriptor is the guard's from then on, also if this fails (-1); then
 * there is nothing to close. The guard must stay where it is in memory, and SIGPIPE must be ignored. The clock has
 * the base's highest priority, so that it runs between any two requests. */
int http_guard_open(
	struct http_guard *g, struct event_base *base, int fd, const struct http_guard_spec *spec);
/* Closes the listener and all connections. A guard that is all zeros is fine. */
void http_guard_close(struct http_guard *g);
/* Accepts no more connections; those that exist go on. */
void http_guard_stop(struct http_guard *g);
unsigned http_guard_count(const struct http_guard *g);

/* The descriptor of a request's connection; -1 if that is gone by now. */
int http_guard_fd(struct evhttp_request *req);
/* The time that the handling takes does not count as the client's: evhttp would end the connection for it
 * before the answer is sent. The guard's own limit goes on; see http_guard_grant. */
void http_guard_hold(struct evhttp_request *req);
/* The connection may stay for so many seconds from now on. */
void http_guard_grant(struct http_guard *g, struct evhttp_request *req, unsigned seconds);
/* Sends JSON and frees both the request and the body (NULL is fine), also if nobody is there any more to take
 * the answer. The client has HTTP_SECONDS for taking it and for its next request. */
void http_guard_reply(struct http_guard *g, struct evhttp_request *req, int status, struct evbuffer *body);

#endif
