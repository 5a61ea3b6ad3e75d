/*
 * File locks that the kernel releases when their holder dies. A lock belongs to the open file description,
 * which a forked child shares: it is released when the last copy of the descriptor is closed. lock_drop and
 * auto_lock release it at once, for all copies.
 */
#ifndef SYS_LOCK_H
#define SYS_LOCK_H

#include <stdbool.h>

#include "base/err.h"

/* Takes the lock. If it is held: blocks (wait), or returns ERR_BUSY (!wait). */
int lock_take(int dir, const char *name, bool wait, int *ret_fd, struct err *e);
/* Releases the lock, also for processes that were forked meanwhile, and closes the descriptor. */
void lock_drop(int *fd);
#define auto_lock __attribute__((cleanup(lock_drop))) int

/* Whether any process holds it now. If the lock file does not exist, the lock is not held. */
bool lock_is_held(int dir, const char *name);
/* The same in two steps, for a caller that asks several times: a descriptor of the lock file, or -1, and the question. */
int lock_open(int dir, const char *name);
bool lock_is_held_at(int fd);

#endif
