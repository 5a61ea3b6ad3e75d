/*
 * The task of a stage: made from the tip of the integration branch when the stage begins, and found again afterwards. If
 * nothing has run in it yet and the integration branch has moved, it is made again, unless somebody has worked in it.
 */
#ifndef PLAN_STAGE_TASK_H
#define PLAN_STAGE_TASK_H

#include "base/err.h"
#include "plan/job.h"

/* ERR_EXISTS if a task that does not belong to the plan has this name. Blocks. */
int stage_task(struct stage_job *j, struct task *ret, struct err *e);

#endif
