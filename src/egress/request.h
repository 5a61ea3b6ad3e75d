/*
 * What a client of the proxy says first: HTTP CONNECT, a request of plain HTTP in absolute form, or SOCKS5
 * with a name. Bytes go in as they come; nothing is done with them here.
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
	size_t used;     /* of the bytes: the rest is for the other side */
	struct buf head; /* REQUEST_HTTP: what is sent in the place of the bytes that were used */
	const char *why; /* where it is refused: what is wrong with it */
	char asked[160]; /* what was asked for, as it was written, cleaned */
};

void request_release(struct request *r);

/* 1 where it is complete, 0 where more has to come, -1 where it is malformed (why). SOCKS has two rounds: 2
 * is after the greeting, of which *used bytes are to be taken off, and answered with "\5\0". */
int request_parse(const char *data, size_t len, bool greeted, struct request *ret);

#endif
