/*
 * Which modes a program has put a terminal into (alternate screen, hidden cursor, mouse, bracketed paste …),
 * read from its output: so that another terminal that joins can be put into the same, and one that leaves can
 * be put back to what a shell expects.
 *
 * The output is the agent's. Nothing of it comes back out of here but known sequences.
 */
#ifndef KEEPER_MODES_H
#define KEEPER_MODES_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

struct modes {
	uint32_t changed;   /* a bit for each mode that is not as it is at first */
	unsigned keys;      /* levels of the keyboard protocol that were pushed */
	unsigned key_flags; /* of the last one */
	/* The sequence being read. */
	unsigned at, number, numbers[8], count;
	char mark;
};

/* Any piece of output, cut anywhere. */
void modes_feed(struct modes *m, const char *data, size_t len);
/* Appends what brings a fresh terminal into these modes. */
void modes_set(const struct modes *m, struct buf *out);
/* Appends what brings such a terminal back. */
void modes_unset(const struct modes *m, struct buf *out);

#endif
