/* Uncommitted changes of the checkout that a task is started from. A task starts from a commit, so it does
 * not have them, unless the user asks for it (--with-changes). */
#ifndef CLI_CHANGES_H
#define CLI_CHANGES_H

#include "base/err.h"
#include "task/context.h"
#include "task/task.h"

/* Tells the user that there are some, how many, and how to copy them. Prints nothing if git fails. */
void changes_tell(const struct task *t, const char *dir);

#endif
