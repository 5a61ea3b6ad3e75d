/* Which tasks a plan that is not over still needs. */
#ifndef TASK_PLANNED_H
#define TASK_PLANNED_H

#include <stdbool.h>

#include "base/err.h"
#include "store/store.h"
#include "task/context.h"

/* ERR_REFUSED, with a hint, if the plan that the task belongs to is not over. `own`: only if its branch is the plan's. */
int planned_refuse(struct context *c, const struct task *t, bool own, struct err *e);

#endif
