/*
 * Removes the user's secrets from a server's answers: a server that repeats a request's headers, in an error or on a page
 * for debugging, would otherwise give them to the task. Each is overwritten with its dummy, so that lengths stay the same.
 * Works on a stream: bytes that may be the beginning of a secret are held back until the next ones arrive.
 */
#ifndef CREDENTIALS_SCRUB_H
#define CREDENTIALS_SCRUB_H

#include <stdbool.h>

#include "base/buf.h"
#include "credentials/vault.h"

/* Shorter secrets are not searched for: they could be part of any text. */
#define SCRUB_MIN 8

struct scrub {
	struct buf work; /* the bytes held back, and those with them */
	size_t passed;   /* of it, what the caller has got */
};
#define SCRUB_INIT                                                                                           \
	{                                                                                                    \
		.work = BUF_INIT(16u << 20)                                                                  \
	}

void scrub_release(struct scrub *s);
/* Gives the bytes that can be passed on now; with `last`, all of them. Returns their number; *ret points into `data` or
 * into the scrub, and is valid until the next call. */
size_t scrub_next(
	struct scrub *s, const struct vault *t, const char *data, size_t len, bool last, const char **ret);
/* The same for a whole text, in place. */
void scrub_text(const struct vault *t, char *text, size_t len);

#endif
