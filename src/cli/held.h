/*
 * Lines for the user that wait until they can be printed without destroying what a program has drawn on the
 * terminal. Until then the terminal itself is asked to show them, as a desktop notification (OSC 9), which many
 * terminals can; the others ignore it.
 *
 *	held_add(&h, text);
 *	held_announce(&h, &modes, &outlet);     whenever output was written
 *	if (modes_plain(&modes)) held_print(&h, raw);
 *	held_release(&h);
 */
#ifndef CLI_HELD_H
#define CLI_HELD_H

#include <stdbool.h>
#include <stddef.h>

#include "base/strvec.h"
#include "cli/outlet.h"
#include "keeper/modes.h"

#define HELD_MAX 16 /* further lines are dropped */

struct held {
	struct strvec lines;
	size_t announced; /* so many of them were shown as notifications */
};

/* The text is cleaned. */
void held_add(struct held *h, const char *text);
/* Sends each line to the terminal once, unless an escape sequence of the program is not complete. */
void held_announce(struct held *h, const struct modes *m, struct outlet *terminal);
/* Prints and forgets the lines. raw: the terminal is in raw mode, and the cursor may be in the middle of a
 * line. */
void held_print(struct held *h, bool raw);
void held_release(struct held *h);

#endif
