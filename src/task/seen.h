/*
 * Whether the user has looked at what a task has now: its tip and the end of its last run. `ls` lists tasks that
 * are done and not seen before those that were.
 *
 * The mark is a courtesy. Failing to write it is no failure, and in a copy of a Garth home it is not written.
 */
#ifndef TASK_SEEN_H
#define TASK_SEEN_H

#include <stdbool.h>

#include "store/store.h"
#include "task/context.h"

/* Looks at the struct alone. A task that never ran and has no commits has nothing to be seen. */
bool seen_is(const struct task *t);
/* The user looks at the task as it is in the struct; what came later stays unseen. */
void seen_mark(struct context *c, const struct task *t);

#endif
