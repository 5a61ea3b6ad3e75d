/*
 * Knows in which directories git needs an answer: those with files of the base, and those in the index's
 * untracked cache. All others (a node_modules with 50,000 new files) need not even be listed: their index
 * entries are reported because the base does not have them, and git scans the rest itself. If something could
 * not be read, every directory counts as known.
 */
#ifndef FSMONITOR_KNOWN_H
#define FSMONITOR_KNOWN_H

#include <stdbool.h>
#include <stddef.h>

#include "base/strvec.h"

struct known {
	const char **base; /* the paths in the base's index, in order; they point into its bytes */
	size_t n, cap;
	bool base_whole, cache_whole;
	struct strvec cache; /* "dir/", sorted when complete */
};

#define KNOWN_INIT                                                                                           \
	{                                                                                                    \
		0                                                                                            \
	}

void known_release(struct known *k);
#define auto_known __attribute__((cleanup(known_release))) struct known

/* Paths must come in the index's order. */
void known_add_base(struct known *k, const char *path);
/* ext is the body of the extension UNTR; NULL if there is none, so no directory is in the cache. */
void known_add_cache(struct known *k, const unsigned char *ext, size_t len, unsigned hash_len);

/* dir ends in a slash. */
bool known_in_base(const struct known *k, const char *dir);
bool known_in_cache(const struct known *k, const char *dir);

#endif
