/* Syncs a file system in the background. */
#ifndef SYS_SYNC_LATER_H
#define SYS_SYNC_LATER_H

/* Syncs the file system of `dir` in a background process, then removes the file `mark` in dir: what was
 * written before is safe on the disk. If another process holds the lock file `unless` (may be NULL) by then,
 * the mark stays. The background process keeps no other descriptor open, so it does not prolong the caller's
 * locks. */
void sync_later(int dir, const char *mark, const char *unless);

#endif
