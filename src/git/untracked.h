/*
 * The untracked cache in an index is bound to the absolute path of its working tree ("Location PATH, system
 * Linux"). A task's index is a copy of its base's; this rewrites the path and the trailing hash, so that the
 * cache is good in the task's workspace from its first `git status` on.
 *
 * Nearly all of the bytes stay as they are. Where many copies are made of one index, the work on those is
 * done once, when the base is made, and kept as a seed beside it:
 *
 *	untracked_seed(index, len, 20, &seed, e);
 *	…
 *	copy seed.shared bytes of the index to the new file
 *	untracked_tail(index, len, &seed, work_tree, &tail, e);
 *	append tail
 */
#ifndef GIT_UNTRACKED_H
#define GIT_UNTRACKED_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

/* Plain data, which may be kept in a file that nobody else can write. */
struct untracked_seed {
	uint64_t len;        /* of the index that this belongs to */
	uint64_t shared;     /* this many bytes from its start are the same in every copy */
	uint64_t extensions; /* where the entries end */
	uint32_t hash_len;
	uint32_t state[8]; /* of the hash over all whole blocks in the shared part */
};

int untracked_seed(
	const void *data, size_t len, unsigned hash_len, struct untracked_seed *ret, struct err *e);
/* Appends to out what follows the shared part; reads only that of data. */
int untracked_tail(const void *data, size_t len, const struct untracked_seed *seed, const char *work_tree,
	struct buf *out, struct err *e);

/* Both in one: appends to out the index with its untracked cache, if it has one, bound to work_tree. */
int untracked_retarget(const void *data, size_t len, unsigned hash_len, const char *work_tree,
	struct buf *out, struct err *e);

#endif
