/* How much room a task takes on disk, whatever it has closed to itself. */
#ifndef LIMITS_USAGE_H
#define LIMITS_USAGE_H

#include "base/err.h"
#include "sys/tree.h"
#include "task/task.h"

/* Adds a directory of dir's and what is beneath it. Where its owner, who is the caller, has closed something,
 * a process looks that has rights over its owner's files (a user namespace of its own). */
int usage_add(int dir, const char *name, struct tree_use *ret, struct err *e);

/* All that a task has in its own directory, and, where its files are elsewhere, what it has added there.
 * ret->closed counts directories that could not be looked into. */
int usage_of_task(struct task_at *at, struct tree_use *ret, struct err *e);

#endif
