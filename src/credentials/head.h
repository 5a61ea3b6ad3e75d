/*
 * Parses the heads of HTTP/1.1 requests that a task sends to the credentials proxy, and their bodies.
 *
 * It is strict: if two parsers disagree about where a request ends, a second request can be smuggled in. Lines end in CR LF
 * and in nothing else, there is one Content-Length or "Transfer-Encoding: chunked", never both and never two, the target is
 * a path, a header's name has no blank. Anything else is refused, and the connection ends.
 *
 *	head_parse(data, len, &h)     1: complete, h.used bytes are the head; 0: more bytes are needed; -1: h.status, h.why
 *	body_take(&b, &h, …)          moves what belongs to the body out of the bytes that follow
 */
#ifndef CREDENTIALS_HEAD_H
#define CREDENTIALS_HEAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/strvec.h"

#define HEAD_MAX     (64u << 10)
#define HEAD_FIELDS  128
#define HEAD_METHODS 16

struct head {
	char method[HEAD_METHODS];
	char *target;                /* path and query */
	struct strvec names, values; /* all fields in their order; names in lower case */
	int64_t length;              /* -1: no Content-Length */
	bool chunked, close, expects, upgrade;
	size_t used;
	int status; /* if it is refused */
	const char *why;
};

void head_release(struct head *h);
/* h is set to nothing first; release it whatever is returned. */
int head_parse(const char *data, size_t len, struct head *ret);
/* The value of a field; NULL if it is not there. The name is in lower case. */
const char *head_value(const struct head *h, const char *name);

enum chunk_state { CHUNK_SIZE, CHUNK_DATA, CHUNK_END, CHUNK_LAST };

struct body {
	int64_t left; /* of the Content-Length, or of the chunk */
	enum chunk_state state;
	bool done;
};

void body_begin(struct body *b, const struct head *h);
/* Adds to `out` those bytes that belong to the body, and returns how many bytes were used; -1 if they are malformed, or
 * `out` is full. */
ssize_t body_take(struct body *b, const struct head *h, const char *data, size_t len, struct buf *out);

#endif
