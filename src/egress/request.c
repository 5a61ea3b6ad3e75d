#include "egress/request.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "base/alloc.h"
#include "base/clean.h"

enum { SOCKS_VERSION = 5, SOCKS_CONNECT = 1, SOCKS_V4 = 1, SOCKS_NAME = 3, SOCKS_V6 = 4 };

void request_release(struct request *r)
{
	buf_release(&r->head);
}

static int wrong(struct request *r, const char *why)
{
	r->why = why;
	return -1;
}

#define ASKED_MAX 128

static void note_asked(struct request *r, const char *text, size_t len)
{
	auto_buf clean = BUF_SMALL;

	clean_text(&clean, text, len < ASKED_MAX ? len : ASKED_MAX, false);
	/* with a blank: the part of a name is not taken for a name */
	if (len > ASKED_MAX || clean.len >= sizeof(r->asked))
		snprintf(r->asked, sizeof(r->asked), "%.*s ...", ASKED_MAX, buf_str(&clean));
	else
		snprintf(r->asked, sizeof(r->asked), "%s", buf_str(&clean));
}

static int socks_greeting(const unsigned char *p, size_t len, struct request *r)
{
	if (len < 2 || len < 2u + p[1])
		return 0;
	if (!memchr(p + 2, 0, p[1]))
		return wrong(r, "it wants to log in, and nobody has to");
	r->used = 2u + p[1];
	return 2;
}

static int socks_request(const unsigned char *p, size_t len, struct request *r)
{
	static const char *const not_a_host = "it names no host";
	char text[64];
	size_t need, n;
	uint16_t port;

	if (len < 5)
		return 0;
	n = p[3] == SOCKS_NAME ? 1u + p[4] : p[3] == SOCKS_V4 ? 4 : 16;
	need = 4 + n + 2;
	if (p[1] != SOCKS_CONNECT || p[2] || (p[3] != SOCKS_NAME && p[3] != SOCKS_V4 && p[3] != SOCKS_V6))
		return wrong(r, "only CONNECT is understood");
	if (len < need)
		return 0;
	port = (uint16_t)(p[need - 2] << 8 | p[need - 1]);
	r->used = need;
	if (p[3] == SOCKS_NAME) {
		note_asked(r, (const char *)p + 5, p[4]);
		return host_parse((const char *)p + 5, p[4], port, &r->host) ? 1 : wrong(r, not_a_host);
	}
	if (p[3] == SOCKS_V4) {
		snprintf(text, sizeof(text), "%u.%u.%u.%u", p[4], p[5], p[6], p[7]);
	} else {
		size_t at = 0;

		for (size_t i = 0; i < 16; i += 2)
			at += (size_t)snprintf(text + at, sizeof(text) - at, "%s%x", i ? ":" : "",
				(unsigned)(p[4 + i] << 8 | p[5 + i]));
	}
	note_asked(r, text, strlen(text));
	return host_parse(text, strlen(text), port, &r->host) ? 1 : wrong(r, not_a_host);
}

static int socks(const char *data, size_t len, bool greeted, struct request *r)
{
	const unsigned char *p = (const unsigned char *)data;

	r->kind = REQUEST_SOCKS;
	return greeted ? socks_request(p, len, r) : socks_greeting(p, len, r);
}

/* Headers that are for the proxy or about the connection are dropped: the proxy closes the connection after
 * the answer. */
static bool is_for_proxy(const char *line, size_t len)
{
	static const char *const names[] = { "proxy-", "connection:", "keep-alive:" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (len >= strlen(names[i]) && !strncasecmp(line, names[i], strlen(names[i])))
			return true;
	return false;
}

/* With a Host header that differs from the request line, the server would answer for a host that is not on
 * the list. */
static bool is_other_host(const char *line, size_t len, const struct host *h)
{
	struct host named;

	if (len < 5 || strncasecmp(line, "host:", 5) != 0)
		return false;
	line += 5;
	len -= 5;
	while (len && (*line == ' ' || *line == '\t'))
		line++, len--;
	while (len && (line[len - 1] == ' ' || line[len - 1] == '\t'))
		len--;
	return !host_parse_pair(line, len, 80, &named) || strcmp(named.name, h->name) != 0 ||
	       named.port != h->port;
}

/* A name up to the colon. White space in it is refused: some servers skip it and others do not. */
static bool has_name(const char *line, size_t len)
{
	const char *colon = memchr(line, ':', len);

	for (const char *p = line; colon && p < colon; p++)
		if ((unsigned char)*p <= ' ' || (unsigned char)*p >= 0x7f)
			return false;
	return colon && colon > line;
}

/* The lines after the request line, up to the empty one. */
static int copy_headers(const char *at, const char *end, struct request *r)
{
	bool host = false;

	while (at < end) {
		const char *eol = memchr(at, '\n', (size_t)(end - at));
		size_t len = eol ? (size_t)(eol - at) : (size_t)(end - at);

		if (len && at[len - 1] == '\r')
			len--;
		if (!len)
			break;
		if (memchr(at, '\0', len) || memchr(at, '\r', len) || !has_name(at, len))
			return wrong(r, "a header is malformed");
		if (is_other_host(at, len, &r->host))
			return wrong(r, "its Host header names another host");
		if (len >= 5 && !strncasecmp(at, "host:", 5) && host)
			return wrong(r, "it has two Host headers");
		host |= len >= 5 && !strncasecmp(at, "host:", 5);
		if (!is_for_proxy(at, len)) {
			buf_add(&r->head, at, len);
			buf_addstr(&r->head, "\r\n");
		}
		at = eol ? eol + 1 : end;
	}
	if (!host)
		buf_printf(&r->head, "Host: %s%s%s:%u\r\n", strchr(r->host.name, ':') ? "[" : "",
			r->host.name, strchr(r->host.name, ':') ? "]" : "", r->host.port);
	buf_addstr(&r->head, "Connection: close\r\n\r\n");
	return r->head.overflow ? wrong(r, "it is too long") : 1;
}

/* "GET http://host:port/path HTTP/1.1" */
static int plain_http(const char *data, size_t method, const char *uri, size_t uri_len, const char *rest,
	const char *end, struct request *r)
{
	size_t skip = strlen("http://"), host_len;

	r->kind = REQUEST_HTTP;
	if (uri_len <= skip || strncasecmp(uri, "http://", skip) != 0)
		return wrong(r, "it names no host: http://host/… is meant");
	host_len = 0;
	while (skip + host_len < uri_len && !strchr("/?#", uri[skip + host_len]))
		host_len++;
	note_asked(r, uri + skip, host_len);
	if (memchr(uri + skip, '@', host_len) || !host_parse_pair(uri + skip, host_len, 80, &r->host))
		return wrong(r, "it names no host");
	uri += skip + host_len;
	uri_len -= skip + host_len;
	buf_add(&r->head, data, method);
	buf_printf(&r->head, " %s", uri_len && *uri == '/' ? "" : "/");
	buf_add(&r->head, uri, uri_len);
	buf_addstr(&r->head, " HTTP/1.1\r\n");
	return copy_headers(rest, end, r);
}

static int http(const char *data, size_t len, struct request *r)
{
	const char *end = memmem(data, len, "\r\n\r\n", 4), *eol, *sp, *sp2;
	size_t method;

	if (!end)
		return len >= REQUEST_MAX ? wrong(r, "its head is too long") : 0;
	r->used = (size_t)(end + 4 - data);
	eol = memchr(data, '\r', r->used);
	sp = eol ? memchr(data, ' ', (size_t)(eol - data)) : NULL;
	sp2 = sp ? memchr(sp + 1, ' ', (size_t)(eol - sp - 1)) : NULL;
	method = sp ? (size_t)(sp - data) : 0;
	if (!sp2 || eol - sp2 != 9 || strncmp(sp2, " HTTP/1.", 8) != 0 || (eol[-1] != '0' && eol[-1] != '1'))
		return wrong(r, "it is not a request of HTTP/1.1");
	for (const char *p = data; p < eol; p++)
		if ((unsigned char)*p <= ' ' && p != sp && p != sp2)
			return wrong(r, "it is not a request of HTTP/1.1");
	if (method == 7 && !memcmp(data, "CONNECT", 7)) {
		r->kind = REQUEST_CONNECT;
		note_asked(r, sp + 1, (size_t)(sp2 - sp - 1));
		return host_parse_pair(sp + 1, (size_t)(sp2 - sp - 1), 0, &r->host)
			       ? 1
			       : wrong(r, "it names no host and port");
	}
	return plain_http(data, method, sp + 1, (size_t)(sp2 - sp - 1), eol + 2, end + 2, r);
}

int request_parse(const char *data, size_t len, bool greeted, struct request *r)
{
	*r = (struct request){ .head = BUF_INIT(REQUEST_MAX + 1024), .kind = REQUEST_HTTP };
	if (!data || !len)
		return 0;
	if (greeted || data[0] == SOCKS_VERSION)
		return socks(data, len, greeted, r);
	if (!isalpha((unsigned char)data[0]))
		return wrong(r, "neither HTTP nor SOCKS5 is spoken");
	return http(data, len, r);
}
