/*
 * Makes an index whose files git does not have to read again. git reads a file at each `git status` if its
 * entry is "racily clean": the file is as young as the index, in whole seconds, so it could have changed
 * after git looked at it. In a small checkout that is true for all files, until the index is written again.
 * Entries without stat data are read each time too.
 *
 * settle_index sets the time of such files some seconds back and stores what lstat then says in their
 * entries. A later change gives a file a new time, so git always sees it.
 */
#ifndef GIT_SETTLE_H
#define GIT_SETTLE_H

#include <stdbool.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/strvec.h"

/* index: the bytes of an index whose files are beneath the directory `tree`, just checked out and not changed
 * since. Files that are not there, because another layer has them, are skipped. The hash at the end is not
 * updated: untracked_retarget does that. */
int settle_index(struct buf *index, unsigned hash_len, int tree, struct err *e);

/* Stores what lstat says of these files (sorted paths) in their entries, and changes no times. `mine` may be NULL; if
 * it says no to a file, the entry stays as it is. */
int settle_paths(struct buf *index, unsigned hash_len, int tree, const struct strvec *paths,
	bool (*mine)(const char *path, const struct stat *st, void *arg), void *arg, struct err *e);

#endif
