/*
 * Tracks which modes a program has set in its terminal (alternate screen, hidden cursor, mouse, bracketed
 * paste …) by reading its output. A terminal that attaches later can be put into the same modes, and one that
 * detaches can be reset to what a shell expects.
 *
 * The output is the agent's. Only known sequences are ever written.
 */
#ifndef KEEPER_MODES_H
#define KEEPER_MODES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

struct modes {
	uint32_t changed;   /* a bit for each mode that differs from a fresh terminal */
	unsigned keys;      /* pushed levels of the keyboard protocol */
	unsigned key_flags; /* flags of the last level */
	/* The escape sequence that is being read. */
	unsigned at, number, numbers[8], count;
	char mark;
};

/* Takes output in pieces, cut anywhere. */
void modes_feed(struct modes *m, const char *data, size_t len);
/* Whether no escape sequence is being read. */
bool modes_at_text(const struct modes *m);
/* Whether a line can be printed between the output: no program draws the screen or edits a line. Those set
 * modes (the alternate screen, a hidden cursor, bracketed paste …). */
bool modes_plain(const struct modes *m);
/* Appends what puts a fresh terminal into these modes. */
void modes_set(const struct modes *m, struct buf *out);
/* Appends what resets such a terminal. */
void modes_unset(const struct modes *m, struct buf *out);

#endif
