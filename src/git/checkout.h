/* Writes a commit's files to disk: the whole tree, or the difference between two commits. */
#ifndef GIT_CHECKOUT_H
#define GIT_CHECKOUT_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/err.h"
#include "git/repo.h"

/* Checks the commit out into the empty directory `tree` and writes its index to `index` (both are paths),
 * unless content_check refuses it. The files belong to the inside's owner. The index has their stat data. */
int checkout_all(
	const struct repo *r, const char *commit, const char *tree, const char *index, struct err *e);
/* Lets git fill the index's fsmonitor and untracked-cache extensions, so that a copy of it answers the first `git
 * status` without reading the files. Only if clean_index_add cannot. fsmonitor is the program's path, id is the base's name. */
int checkout_warm(const struct repo *r, const char *tree, const char *index, const char *fsmonitor,
	const char *id, struct err *e);

/* The difference between two commits, as `git diff-tree -r --raw -z` prints it. ERR_REFUSED beyond limit
 * bytes. */
int checkout_diff(
	const struct repo *r, const char *from, const char *to, size_t limit, struct buf *out, struct err *e);

/* One path of such a difference. */
struct diff_entry {
	unsigned old_mode, new_mode;   /* 0: does not exist */
	const char *old_oid, *new_oid; /* not NUL-terminated; hash_len * 2 characters */
	const char *path;
};
/* Reads the entry at *at and moves on: 1, 0 at the end, -1 malformed. */
int diff_next(const struct buf *raw, size_t *at, unsigned hash_len, struct diff_entry *ret);

/* Updates the index at `index`, a copy of the one for `from`, to the commit `to`, and checks out the changed
 * files under the directory `tree`, unless content_check refuses it. The changed entries get no stat data.
 * fsmonitor and id are those given to checkout_warm for the copied index, whose extensions are kept. */
int checkout_delta(const struct repo *r, const struct buf *raw, const char *tree, const char *index,
	const char *scratch, const char *fsmonitor, const char *id, struct err *e);

#endif
