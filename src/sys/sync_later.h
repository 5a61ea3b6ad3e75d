/* Getting files onto the disk without waiting for it. */
#ifndef SYS_SYNC_LATER_H
#define SYS_SYNC_LATER_H

/* Writes the file system of `dir` out in a process of its own, which keeps nothing else open (a lock that it
 * inherited would stay held for as long as the disk takes), and then removes `mark` in dir: what the mark
 * speaks of is safe. Where somebody holds the lock file `unless` (may be NULL) by then, the mark stays. */
void sync_later(int dir, const char *mark, const char *unless);

#endif
