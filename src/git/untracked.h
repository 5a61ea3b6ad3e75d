/*
 * Moves the untracked cache of an index to another working tree. git stores the tree's absolute path in the
 * cache ("Location PATH, system Linux"). A base's index is made at the base's own path; with the path inside,
 * the cache is valid for a task's workspace from the first `git status` on.
 */
#ifndef GIT_UNTRACKED_H
#define GIT_UNTRACKED_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

/* Appends the index to out, with its untracked cache (if it has one) for work_tree and a new
 * hash at the end. */
int untracked_retarget(const void *data, size_t len, unsigned hash_len, const char *work_tree,
	struct buf *out, struct err *e);

/* Appends a number in the form that the cache has for lengths and counts. */
void untracked_add_number(struct buf *out, size_t n);

#endif
