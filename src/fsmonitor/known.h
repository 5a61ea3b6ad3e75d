/*
 * Which directories git can have an opinion on: those with files of the base in them, and those in the
 * untracked cache of its index. All others (a node_modules, say, of 50,000 new files) need not even be
 * listed: index entries in them are reported because the base has not got them, and for the rest git looks
 * for itself. What could not be read is taken for known.
 */
#ifndef FSMONITOR_KNOWN_H
#define FSMONITOR_KNOWN_H

#include <stdbool.h>
#include <stddef.h>

#include "base/strvec.h"

struct known {
	const char **base; /* the paths in the base's index, in order; they lie in its bytes */
	size_t n, cap;
	bool base_whole, cache_whole;
	struct strvec cache; /* "dir/", sorted once it is whole */
};

#define KNOWN_INIT                                                                                           \
	{                                                                                                    \
		0                                                                                            \
	}

void known_release(struct known *k);
#define auto_known __attribute__((cleanup(known_release))) struct known

/* In the index's order. */
void known_add_base(struct known *k, const char *path);
/* The body of the extension UNTR; NULL where there is none, which is to know nothing. */
void known_add_cache(struct known *k, const unsigned char *ext, size_t len, unsigned hash_len);

/* dir ends in a slash. */
bool known_in_base(const struct known *k, const char *dir);
bool known_in_cache(const struct known *k, const char *dir);

#endif
