/* --with-changes: copies the checkout's uncommitted changes into a new task, where they are uncommitted
 * too. */
#ifndef RUNTIME_WITH_CHANGES_H
#define RUNTIME_WITH_CHANGES_H

#include "base/err.h"
#include "task/context.h"
#include "task/task.h"

/* Copies them as a patch, which git inside applies. The checkout that contains dir does not change.
 * ERR_CONFLICT if they do not fit the commit that the task starts from. Blocks. */
int with_changes_copy(struct context *c, struct task *t, const char *dir, struct err *e);
/* Discards a task after with_changes_copy failed. */
void with_changes_drop(struct context *c, const struct task *t);

#endif
