/*
 * Locks that the kernel lets go of when their holder dies, however it dies. A lock is held by the open file
 * description: keep the descriptor open for as long as the lock is wanted; a fork shares it.
 */
#ifndef SYS_LOCK_H
#define SYS_LOCK_H

#include <stdbool.h>

#include "base/err.h"

/* Takes the lock; waits for it, or (wait false) says ERR_BUSY. */
int lock_take(int dir, const char *name, bool wait, int *ret_fd, struct err *e);
/* Whether somebody holds it now. A lock file that is not there is not held. */
bool lock_is_held(int dir, const char *name);

#endif
