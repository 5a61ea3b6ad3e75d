/*
 * Lines for the user that wait until they can be printed without destroying what a program has drawn on the
 * terminal. Until then the terminal itself is asked to show them, as a desktop notification (OSC 9), which many
 * terminals can; the others ignore it.
 *
 *	deferred_add(&h, text);
 *	deferred_announce(&h, &modes, &queue);      whenever output was written
 *	if (modes_plain(&modes)) deferred_print(&h, raw);
 *	deferred_release(&h);
 */
#ifndef CLI_DEFERRED_LINES_H
#define CLI_DEFERRED_LINES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/strvec.h"
#include "keeper/modes.h"
#include "sys/output_queue.h"

#define HELD_MAX 16 /* further lines are dropped */

struct deferred_lines {
	struct strvec lines;
	size_t announced; /* so many of them were shown as notifications */
};

/* The text is cleaned. */
void deferred_add(struct deferred_lines *h, const char *text);
/* Sends each line to the terminal once, unless an escape sequence of the program is not complete. */
void deferred_announce(struct deferred_lines *h, const struct modes *m, struct output_queue *terminal);
/* Prints and forgets the lines. raw: the terminal is in raw mode, and the cursor may be in the middle of a
 * line. */
void deferred_print(struct deferred_lines *h, bool raw);
void deferred_release(struct deferred_lines *h);

#endif
