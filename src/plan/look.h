/*
 * Looks how the run of a stage's agent ended, and moves the stage on. What decides are facts: the task's state, its exit
 * code, its verdict, and texts of the configuration at the end of its output (agents.NAME.quota). Does not block.
 */
#ifndef PLAN_LOOK_H
#define PLAN_LOOK_H

#include "base/err.h"
#include "plan/job.h"

/* Looks at a stage that is running or asking. *ret_moved: it is in another state now. */
int stage_look(struct stage_job *j, bool *ret_moved, struct err *e);

#endif
