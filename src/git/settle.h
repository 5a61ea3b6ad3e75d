/*
 * An index that git believes at once. git reads a file again, at each `git status`, if its entry is "racily
 * clean": the file is as young as the index, in whole seconds, so it could have been changed after it was
 * looked at. All files of a small checkout are, and stay so for as long as the index is not written again.
 * Entries without stat data are read each time too.
 *
 * Here such files get a time that is some seconds old, and their entries what lstat says then. A later change
 * of such a file gives it a new time, so it is always seen.
 */
#ifndef GIT_SETTLE_H
#define GIT_SETTLE_H

#include "base/buf.h"
#include "base/err.h"

/* index: the bytes of an index whose files are beneath the directory `tree`, just checked out and touched by
 * nobody since. Files that are not there, because another layer has them, stay as they are. The hash at the
 * end is not brought up to date: untracked_retarget does that. */
int settle_index(struct buf *index, unsigned hash_len, int tree, struct err *e);

#endif
