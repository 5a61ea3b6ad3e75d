/*
 * Adds to the index of files that were just checked out what git would find out at the first `git status` there: that
 * no file has changed since (the fsmonitor extension) and that there are no untracked files (the untracked cache).
 * git would start two more programs for that and look at each file once more (checkout_warm).
 *
 * If an ignore file names a directory that has tracked files, git leaves that directory out. Here it is in the cache;
 * when git looks into it, it finds that whatever is new there is ignored.
 *
 * The untracked cache names no place: untracked_retarget adds it, and the hash at the end.
 */
#ifndef GIT_CLEAN_INDEX_H
#define GIT_CLEAN_INDEX_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/err.h"

/* Begins the monitor's tokens; the rest is the base's name. */
#define CLEAN_TOKEN "garth:"

struct clean_index {
	const char *token;         /* the state after which the monitor says what has changed */
	const struct buf *exclude; /* the text of info/exclude, which a task always has */
	const struct buf *ignores; /* the user's ignore file; NULL: there is none */
	bool attributes;           /* whether a task has attributes that no file of the commit names */
};

/* index: the bytes of an index whose files are beneath the directory `tree`. Returns 1, and changes nothing, if the
 * index has something that only git should judge: submodules, entries that are not checked out, ignore files beside
 * attributes, other extensions. */
int clean_index_add(
	struct buf *index, unsigned hash_len, int tree, const struct clean_index *c, struct err *e);

#endif
