/* The steps of removing a task, each of which does nothing twice, so that a crash between any two is made
 * good by going through them again. */
#ifndef TASK_REMOVE_H
#define TASK_REMOVE_H

#include "base/err.h"
#include "store/store.h"
#include "task/context.h"

/* Goes through the steps for a task in state "discarding" or (half-made) "creating". The caller holds its
 * lock where its directory exists. */
int remove_finish(struct context *c, struct task *t, struct err *e);
/* Removes what has been in the trash for TASK_TRASH_DAYS. */
int remove_old_trash(struct context *c, struct err *e);

#endif
