/* Uncommitted changes of the checkout that a task is started from. A task starts from a commit: they are not
 * in it, unless they are taken along. */
#ifndef CLI_CHANGES_H
#define CLI_CHANGES_H

#include "base/err.h"
#include "task/context.h"
#include "task/task.h"

/* Says that there are some, how many, and how they come along. Nothing where that cannot be told. */
void changes_tell(const struct task *t, const char *dir);

#endif
