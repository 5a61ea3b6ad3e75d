/*
 * Finds the keys that detach in what the user types.
 *
 *	keys_set(&k, "ctrl-p,ctrl-q", e)       or NULL, for the built-in keys
 *	keys_pass(&k, in, len, &out)           true: the user wants to detach
 *	keys_release(&k, &out)                 after KEYS_HOLD_MS without another key
 *
 * Keys that may be the beginning are held back until the next key, or the time, decides. If they were not, they
 * are passed on, so a program that uses them loses nothing.
 *
 * A key is a character, or ctrl- and a character; the first one has ctrl-. Terminals send it as one byte or, if
 * a program has switched that on, by one of two keyboard protocols: CSI u (kitty's) and modifyOtherKeys
 * (xterm's).
 */
#ifndef BASE_KEYS_H
#define BASE_KEYS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"

/* Why these two: docs/DECISIONS.md. */
#define KEYS_DEFAULT "ctrl-y,d"
#define KEYS_ALSO    "ctrl-],d" /* works too, unless the user chose keys */

#define KEYS_MAX      8   /* keys, one after the other */
#define KEYS_HELD_MAX 256 /* bytes */
#define KEYS_HOLD_MS  500

struct key {
	bool ctrl;
	char c;
};

struct keys {
	struct {
		struct key key[KEYS_MAX];
		size_t n;
	} either[2];
	size_t n;
	char held[KEYS_HELD_MAX]; /* what may be the beginning, as the terminal sent it */
	size_t nheld;
};

/* Parses the user's keys, separated by commas. NULL: KEYS_DEFAULT and KEYS_ALSO. */
int keys_set(struct keys *k, const char *text, struct err *e);
/* Appends the keys for people: "Ctrl-P Ctrl-Q". */
void keys_text(const struct keys *k, struct buf *out);
/* Appends what is meant for the command to out, at most KEYS_HELD_MAX bytes more than len. True: the user
 * wants to detach; what follows in `in` is dropped. */
bool keys_pass(struct keys *k, const char *in, size_t len, struct buf *out);
/* Appends what is held back. */
void keys_release(struct keys *k, struct buf *out);

#endif
