/* Computes a task's disk usage, including directories that the agent made unreadable. */
#ifndef LIMITS_USAGE_H
#define LIMITS_USAGE_H

#include "base/err.h"
#include "sys/tree.h"
#include "task/task.h"

/* Adds the directory `name` of dir and everything below it. If the caller owns a directory that it cannot
 * read, a child process in its own user namespace, which may read all of its owner's files, does it. */
int usage_add(int dir, const char *name, struct tree_use *ret, struct err *e);

/* Everything in the task's own directory; if its files are elsewhere, also what it has added there.
 * ret->closed counts directories that could not be read. */
int usage_of_task(struct task_at *at, struct tree_use *ret, struct err *e);

#endif
