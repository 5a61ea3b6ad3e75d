/* The key sequence that detaches, looked for in what is typed. */
#ifndef CLI_KEYS_H
#define CLI_KEYS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

#define KEYS_HELD_MAX 16

struct keys {
	char held[KEYS_HELD_MAX]; /* Ctrl-], as the terminal sent it, until the next key tells what it means
				   */
	size_t nheld;
};

/* Appends to out what is meant for the command: at most KEYS_HELD_MAX bytes more than came in. True when the
 * user wants to leave; what was typed behind it is dropped. */
bool keys_pass(struct keys *k, const char *in, size_t len, struct buf *out);

#endif
