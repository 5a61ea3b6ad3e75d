/*
 * Finds out how the run of a stage's agent ended, and moves the stage to its next state. It decides by facts: the task's
 * state, its exit code, its verdict. The only text that counts is one that the configuration names (agents.NAME.quota) at
 * the end of the output. Does not block.
 */
#ifndef PLAN_LOOK_H
#define PLAN_LOOK_H

#include "base/err.h"
#include "plan/job.h"

/* Looks at a stage that is running or asking. *ret_moved: it is in another state now. */
int stage_look(struct stage_job *j, bool *ret_moved, struct err *e);

/* The stage's task is gone, and with it what was not merged. */
int stage_is_gone(struct stage_job *j, struct err *e);

#endif
