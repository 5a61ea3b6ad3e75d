/*
 * Matches paths against globs.
 *
 *	*       any characters within a name
 *	**      any number of directories
 *	?       one character
 *	[...]   one character of a class; [!...] or [^...] one that is not in it
 *	\c      the character c itself
 *
 * A glob without a slash matches a name at any depth. A glob with a slash, also one at its beginning, starts
 * at the root. If a glob matches a directory, it matches everything beneath it. Case is ignored, because
 * checkouts on other systems ignore it.
 */
#ifndef BASE_GLOB_H
#define BASE_GLOB_H

#include <stdbool.h>

/* Worst case: time proportional to the product of both lengths. */
bool glob_matches(const char *glob, const char *path);
/* The same, but case counts: for a glob that permits something, and does not forbid it. */
bool glob_matches_case(const char *glob, const char *path);
/* Whether the glob could match something beneath path: ".claude" is above ".claude/settings.json". */
bool glob_is_above(const char *glob, const char *path);

#endif
