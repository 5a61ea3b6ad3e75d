/*
 * The task of a stage: made from the tip of the integration branch when the stage begins, and found again afterwards. One in
 * which nothing has run yet, and that begins from an older commit, is made again, unless somebody has worked in it.
 */
#ifndef PLAN_STAGE_TASK_H
#define PLAN_STAGE_TASK_H

#include "base/err.h"
#include "plan/job.h"

/* ERR_EXISTS if there is a task of this name which is not the plan's. Blocks. */
int stage_task(struct stage_job *j, struct task *ret, struct err *e);

#endif
