/*
 * Sets and clears the flag skip-worktree in the bytes of an index: git then takes the file for unchanged, whatever is
 * in the working tree, and leaves it alone. Like index.h, it uses libc and base only, and a hash (sys/digest.h): it
 * works inside a jail on an index that the agent wrote.
 */
#ifndef GIT_INDEX_SKIP_H
#define GIT_INDEX_SKIP_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"

/* Whether git is to skip the path; `skipped`: it does now. Called for each file and link that is not in conflict. */
typedef bool index_skip_fn(const char *path, bool skipped, void *arg);

/* Appends the index with the flags that `wants` says to out, and a new hash at the end. If no flag changes,
 * *ret_changed is false and nothing is appended. An index that is not understood is an error. */
int index_skip(const void *data, size_t len, unsigned hash_len, index_skip_fn *wants, void *arg,
	struct buf *out, bool *ret_changed, struct err *e);

#endif
