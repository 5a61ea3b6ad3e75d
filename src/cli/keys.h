/* Finds the keys that detach (Ctrl-] d) in what the user types. */
#ifndef CLI_KEYS_H
#define CLI_KEYS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

#define KEYS_HELD_MAX 16

struct keys {
	char held[KEYS_HELD_MAX]; /* Ctrl-] as the terminal sent it, until the next key decides */
	size_t nheld;
};

/* Appends what is meant for the command to out, at most KEYS_HELD_MAX bytes more than len. True: the user
 * wants to detach; what follows in `in` is dropped. */
bool keys_pass(struct keys *k, const char *in, size_t len, struct buf *out);

#endif
