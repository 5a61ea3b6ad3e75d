/*
 * Locks that the kernel lets go of when their holder dies, however it dies. A lock is held by the open file
 * description, which a fork shares: the last one to close it lets go, and auto_lock lets go for all of them.
 */
#ifndef SYS_LOCK_H
#define SYS_LOCK_H

#include <stdbool.h>

#include "base/err.h"

/* Takes the lock; waits for it, or (wait false) says ERR_BUSY. */
int lock_take(int dir, const char *name, bool wait, int *ret_fd, struct err *e);
/* Lets go of it, also on behalf of processes that were forked meanwhile, and closes the descriptor. */
void lock_drop(int *fd);
#define auto_lock __attribute__((cleanup(lock_drop))) int

/* Whether somebody holds it now. A lock file that is not there is not held. */
bool lock_is_held(int dir, const char *name);

#endif
