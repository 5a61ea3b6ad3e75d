/*
 * Packs numbers and strings into bytes, to send them to another process on the same machine. The reader
 * checks everything: what does not fit sets `bad`, and every later answer is 0 or NULL. So a series of reads
 * can be checked once at its end with pack_done.
 */
#ifndef JAIL_PACK_H
#define JAIL_PACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/strvec.h"

void pack_num(struct buf *out, uint64_t n);
/* NULL stays NULL. */
void pack_str(struct buf *out, const char *s);
void pack_strvec(struct buf *out, const struct strvec *v);

struct pack_reader {
	const char *at;
	size_t left;
	bool bad;
};

/* A number of at most max. */
uint64_t pack_read_num(struct pack_reader *r, uint64_t max);
/* The number of items that follow, each of which takes at least `each` bytes. */
size_t pack_read_count(struct pack_reader *r, size_t each);
/* NULL if NULL was packed. The caller frees it. */
char *pack_read_str(struct pack_reader *r);
void pack_read_strvec(struct pack_reader *r, struct strvec *ret);
/* Whether everything was well-formed and nothing is left. */
bool pack_done(const struct pack_reader *r);

#endif
