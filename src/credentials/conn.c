#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/alloc.h"
#include "credentials/renew.h"
#include "credentials/route.h"
#include "credentials/server.h"
#include "sys/clock.h"
#include "sys/fd.h"

#define READ_AT_ONCE (256u << 10)
#define IN_MAX       (HEAD_MAX + READ_AT_ONCE)

struct conn *conn_open(struct server *s, int fd)
{
	struct conn *c;
	size_t i = 0;

	while (i < CONNS_MAX && s->conns[i])
		i++;
	if (i == CONNS_MAX) {
		close(fd);
		return NULL;
	}
	c = s->conns[i] = xcalloc(1, sizeof(*c));
	c->server = s;
	c->fd = fd;
	c->in = (struct buf)BUF_INIT(IN_MAX + 1);
	c->out = (struct buf)BUF_INIT(OUT_MAX);
	c->body = (struct buf)BUF_INIT(BODY_MAX);
	c->up.head = (struct buf)BUF_INIT(HEAD_MAX);
	c->up.scrub = (struct scrub)SCRUB_INIT;
	c->renewal.fd = -1;
	c->renewal.answer = (struct buf)BUF_INIT(RENEW_MAX);
	c->since = clock_seconds();
	return c;
}

void conn_open_tls(struct server *s, int fd, const char *host, const char *early, size_t len)
{
	struct conn *c = conn_open(s, fd);
	SSL_CTX *ctx;

	if (!c)
		return;
	if (!s->authority && s->table.cert)
		s->authority = authority_open(s->table.cert, s->table.cert_key);
	ctx = s->authority ? authority_context(s->authority, host) : NULL;
	c->tls = ctx ? tls_new(ctx, early, len) : NULL;
	c->host = xstrdup(host);
	if (!c->tls)
		conn_free(c);
}

const struct service *conn_service(const struct conn *c)
{
	return c->service < 0 ? NULL : &c->server->table.services[c->service];
}

bool conn_has_output(const struct conn *c)
{
	return c->sent < c->out.len || (c->tls && tls_wants_to_write(c->tls));
}

bool conn_wants_more(const struct conn *c)
{
	return c->in.len < HEAD_MAX && c->out.len - c->sent < OUT_HIGH;
}

void conn_free(struct conn *c)
{
	for (size_t i = 0; i < CONNS_MAX; i++)
		if (c->server->conns[i] == c)
			c->server->conns[i] = NULL;
	upstream_release(c);
	renew_release(c);
	close(c->fd);
	tls_free(c->tls);
	free(c->host);
	head_release(&c->head);
	buf_release(&c->in);
	buf_release(&c->out);
	buf_release(&c->body);
	buf_release(&c->up.head);
	buf_release(&c->renewal.answer);
	scrub_release(&c->up.scrub);
	free(c);
}

static const char *reason(int status)
{
	static const struct {
		int status;
		const char *text;
	} known[] = { { 200, "OK" }, { 400, "Bad Request" }, { 403, "Forbidden" }, { 404, "Not Found" },
		{ 413, "Content Too Large" }, { 426, "Upgrade Required" }, { 502, "Bad Gateway" },
		{ 503, "Service Unavailable" } };

	for (size_t i = 0; i < ARRAY_SIZE(known); i++)
		if (known[i].status == status)
			return known[i].text;
	return "Refused";
}

void conn_reply(struct conn *c, int status, const char *body, size_t len)
{
	bool ends = !c->framing.done || c->head.close;

	buf_printf(&c->out,
		"HTTP/1.1 %d %s\r\nContent-Type: application/json\r\nContent-Length: %zu\r\n%s%s\r\n", status,
		reason(status), len, status == 426 ? "Upgrade: HTTP/1.1\r\n" : "",
		ends ? "Connection: close\r\n" : "");
	buf_add(&c->out, body, len);
}

void conn_refuse(struct conn *c, int status, const char *why)
{
	json_t *j = json_pack("{s:s, s:{s:s, s:s+}}", "type", "error", "error", "type",
		"garth_credentials_proxy", "message", "Garth's credentials proxy: ", why);
	char *text = j ? json_dumps(j, JSON_COMPACT) : NULL;

	conn_reply(c, status, text ? text : "{}", text ? strlen(text) : 2);
	free(text);
	json_decref(j);
	conn_answered(c);
}

/* Whether the request names a service, and the service's list allows it. */
static bool route(struct conn *c)
{
	struct route r;

	if (!route_find(&c->server->table, &c->head, c->host, &r)) {
		conn_refuse(c, r.status, r.why);
		return false;
	}
	c->service = r.service;
	c->path = r.path;
	return true;
}

/* A log-in is renewed after the whole request has arrived. */
static bool is_renewal(const struct conn *c)
{
	const struct service *s = conn_service(c);

	return s && s->renews.n > 0;
}

static void begin(struct conn *c)
{
	c->state = CONN_REQUEST;
	body_begin(&c->framing, &c->head);
	if (!route(c))
		return;
	if (c->head.length > (int64_t)BODY_MAX) {
		conn_refuse(c, 413, "the request is too large");
		return;
	}
	if (c->head.expects)
		buf_addstr(&c->out, "HTTP/1.1 100 Continue\r\n\r\n");
	if (!is_renewal(c) && !upstream_start(c))
		conn_refuse(c, 502, "the request cannot be made");
}

static void drop(struct buf *b, size_t n)
{
	memmove(b->data, b->data + n, b->len - n);
	buf_cut(b, b->len - n);
}

static size_t bodies(const struct server *s)
{
	size_t sum = 0;

	for (size_t i = 0; i < CONNS_MAX; i++)
		sum += s->conns[i] ? s->conns[i]->body.len : 0;
	return sum;
}

static void take_body(struct conn *c)
{
	ssize_t n;

	if (c->framing.done || !c->in.len)
		return;
	n = body_take(&c->framing, &c->head, c->in.data, c->in.len, &c->body);
	if (n < 0 || bodies(c->server) > BODIES_MAX) {
		upstream_release(c);
		conn_refuse(c, n < 0 && !c->body.overflow ? 400 : 413,
			"the request's body is malformed or too large");
		return;
	}
	drop(&c->in, (size_t)n);
	upstream_more(c);
}

static bool take_head(struct conn *c)
{
	int rc;

	/* an empty line before a request is allowed */
	if (c->in.len >= 2 && !memcmp(c->in.data, "\r\n", 2))
		drop(&c->in, 2);
	head_release(&c->head);
	rc = head_parse(buf_str(&c->in), c->in.len, &c->head);
	if (!rc)
		return false;
	if (rc < 0) {
		c->framing.done = false;
		conn_refuse(c, c->head.status, c->head.why);
		return false;
	}
	drop(&c->in, c->head.used);
	begin(c);
	return true;
}

void conn_work(struct conn *c)
{
	for (;;) {
		if (c->state == CONN_LAST || (c->state == CONN_HEAD && !take_head(c)))
			return;
		if (c->state == CONN_REQUEST)
			take_body(c);
		if (c->state == CONN_REQUEST && c->framing.done && is_renewal(c) && !c->up.easy &&
			!c->renewal.pid)
			renew_begin(c);
		if (c->state != CONN_HEAD || !c->in.len)
			return;
	}
}

void conn_answered(struct conn *c)
{
	upstream_release(c);
	c->state = c->framing.done && !c->head.close ? CONN_HEAD : CONN_LAST;
	if (c->body.len > READ_AT_ONCE)
		buf_release(&c->body);
	buf_reset(&c->body);
	c->body.max = BODY_MAX;
	c->since = clock_seconds();
}

static ssize_t take(struct conn *c, char *to, size_t room)
{
	return c->tls ? tls_read(c->tls, c->fd, to, room) : recv(c->fd, to, room, MSG_DONTWAIT);
}

void conn_readable(struct conn *c)
{
	for (;;) {
		size_t room = c->in.len < IN_MAX ? IN_MAX - c->in.len : 0;
		char *space = room ? buf_reserve(&c->in, room) : NULL;
		ssize_t n = space ? take(c, space, room) : 0;

		if (!space || (n < 0 && (errno == EAGAIN || errno == EINTR)))
			return;
		if (n <= 0) {
			/* a client that hangs up does not want the answer any more */
			c->state = CONN_LAST;
			upstream_release(c);
			c->up.chunk = 0;
			c->sent = c->out.len;
			c->gone = true;
			return;
		}
		c->in.len += (size_t)n;
		c->in.data[c->in.len] = '\0';
		conn_work(c);
		/* of TLS, one record arrives at a time */
		if (c->tls ? !conn_wants_more(c) : (size_t)n < room)
			return;
	}
}

static ssize_t give(struct conn *c, const char *data, size_t len)
{
	return c->tls ? tls_write(c->tls, c->fd, data, len)
		      : send(c->fd, data, len, MSG_DONTWAIT | MSG_NOSIGNAL);
}

/* Ends our direction. False if something is left to be written first. */
static bool end(struct conn *c)
{
	if (c->tls && !c->gone) {
		if (!c->ended)
			tls_end(c->tls);
		c->ended = true;
		if (tls_flush(c->tls, c->fd) < 0 && errno == EAGAIN)
			return false;
	}
	shutdown(c->fd, SHUT_WR);
	return true;
}

bool conn_write(struct conn *c)
{
	upstream_end_chunk(c);
	while (c->sent < c->out.len) {
		ssize_t n = give(c, c->out.data + c->sent, c->out.len - c->sent);

		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			break;
		if (n <= 0)
			return false;
		c->sent += (size_t)n;
		c->since = clock_seconds();
	}
	if (c->sent == c->out.len) {
		buf_reset(&c->out);
		c->sent = 0;
	}
	return true;
}

bool conn_flush(struct conn *c)
{
	if (c->tls && !c->gone && tls_flush(c->tls, c->fd) < 0 && errno != EAGAIN && errno != EINTR) {
		conn_free(c);
		return false;
	}
	if (!conn_write(c)) {
		conn_free(c);
		return false;
	}
	if (c->out.len - c->sent < OUT_HIGH / 2)
		upstream_drained(c);
	if (c->state == CONN_LAST && !c->out.len && end(c)) {
		conn_free(c);
		return false;
	}
	return true;
}
