/* Files of a commit on disk: a whole tree, or the difference between two commits. */
#ifndef GIT_CHECKOUT_H
#define GIT_CHECKOUT_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/err.h"
#include "git/repo.h"

/* Checks the commit out into the empty directory tree, with its index at `index` (paths), unless
 * content_check refuses it. The files belong to the inside's owner. Without index, nothing is remembered
 * about the files' stat data. */
int checkout_all(
	const struct repo *r, const char *commit, const char *tree, const char *index, struct err *e);
/* Fills the index' fsmonitor and untracked-cache extensions as of now, so that a copy of it answers the first
 * `git status` without looking at the files. fsmonitor is the program's path, id the base's name. */
int checkout_warm(const struct repo *r, const char *tree, const char *index, const char *fsmonitor,
	const char *id, struct err *e);

/* What differs between two commits, as `git diff-tree -r --raw -z` prints it; ERR_REFUSED beyond limit bytes.
 */
int checkout_diff(
	const struct repo *r, const char *from, const char *to, size_t limit, struct buf *out, struct err *e);

/* One path of such a difference. */
struct diff_entry {
	unsigned old_mode, new_mode;   /* 0: not there */
	const char *old_oid, *new_oid; /* not NUL-terminated; hash_len * 2 characters */
	const char *path;
};
/* Reads the next one at *at; 1, 0 at the end, -1 malformed. */
int diff_next(const struct buf *raw, size_t *at, unsigned hash_len, struct diff_entry *ret);

/* Brings an index at `index` (a copy of the one for `from`) to the other side of the difference, and checks
 * the changed files out under the directory tree, unless content_check refuses it. The changed entries' stat
 * data stays empty. fsmonitor and id are those of checkout_warm for the copied index, whose extensions stay.
 */
int checkout_delta(const struct repo *r, const struct buf *raw, const char *tree, const char *index,
	const char *scratch, const char *fsmonitor, const char *id, struct err *e);

#endif
