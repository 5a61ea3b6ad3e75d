/* --with-changes: uncommitted changes of the checkout come into a new task, as uncommitted changes. */
#ifndef RUNTIME_WITH_CHANGES_H
#define RUNTIME_WITH_CHANGES_H

#include "base/err.h"
#include "task/context.h"
#include "task/task.h"

/* Takes them along: as a patch, which git inside applies. The checkout around dir stays as it is. ERR_CONFLICT
 * if they do not fit the commit that the task starts from. */
int with_changes_carry(struct context *c, struct task *t, const char *dir, struct err *e);
/* Discards a task that they could not be brought into. */
void with_changes_drop(struct context *c, const struct task *t);

#endif
