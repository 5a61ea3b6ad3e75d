/* Uncommitted changes of the checkout that a task is started from. A task starts from a commit: they are not
 * in it, unless they are taken along. */
#ifndef CLI_CHANGES_H
#define CLI_CHANGES_H

#include "base/err.h"
#include "task/context.h"
#include "task/task.h"

/* Says that there are some, how many, and how they come along. Nothing where that cannot be told. */
void changes_tell(const struct task *t, const char *dir);
/* Takes them along, as uncommitted changes of the new task: as a patch, which git inside applies. The
 * checkout around dir stays as it is. ERR_CONFLICT where they do not fit what the task starts from. */
int changes_carry(struct context *c, struct task *t, const char *dir, struct err *e);
/* Takes a task back that they could not be brought into. */
void changes_drop(struct context *c, const struct task *t);

#endif
