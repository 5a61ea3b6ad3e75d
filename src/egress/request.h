/*
 * Parses the first bytes that a client of the proxy sends: HTTP CONNECT, a plain HTTP request in absolute
 * form, or SOCKS5 with a name. Call request_parse with all bytes so far each time more arrive; then release
 * the request.
 */
#ifndef EGRESS_REQUEST_H
#define EGRESS_REQUEST_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/hosts.h"

#define REQUEST_MAX (32u << 10)

enum request_kind { REQUEST_CONNECT, REQUEST_HTTP, REQUEST_SOCKS };

struct request {
	enum request_kind kind;
	struct host host;
	size_t used;     /* bytes of the request; what follows is for the server */
	struct buf head; /* REQUEST_HTTP: what the server gets in place of the used bytes */
	const char *why; /* if malformed: what is wrong */
	char asked[160]; /* the requested host as the client wrote it, cleaned for messages */
};

void request_release(struct request *r);

/* 1: complete. 0: more bytes are needed. -1: malformed (see why). 2: a SOCKS greeting; the caller removes
 * `used` bytes, answers "\5\0", and parses again with greeted set. */
int request_parse(const char *data, size_t len, bool greeted, struct request *ret);

#endif
