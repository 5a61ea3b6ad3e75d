/*
 * The untracked cache in an index is bound to the absolute path of its working tree ("Location PATH, system
 * Linux"). A base's index is made at the base's own place; this rewrites the path and the trailing hash, so
 * that the cache is good where tasks have their workspace inside, from the first `git status` on.
 */
#ifndef GIT_UNTRACKED_H
#define GIT_UNTRACKED_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

/* Appends to out the index with its untracked cache, if it has one, bound to work_tree. The hash at
 * the end is made anew. */
int untracked_retarget(const void *data, size_t len, unsigned hash_len, const char *work_tree,
	struct buf *out, struct err *e);

#endif
