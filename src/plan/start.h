/*
 * Starts a stage's agent: the stage is `ready` or `rework` before, and `running` afterwards. Idempotent: after a crash at
 * any point it is called again, and skips the steps that are done:
 *
 *	the task, made from the tip of the integration branch       fault plan-stage-task
 *	the checks that come before its first run, on the task's base; if one fails, the stage has failed
 *	what the plan says of it: stage.yaml, its brief              fault plan-stage-told
 *	store: a run is about to start, and which one was the last   fault plan-stage-noted
 *	the run                                                      fault plan-stage-run
 *	store: running                                               fault plan-stage-running
 *
 * It blocks, for as long as the set-up takes.
 */
#ifndef PLAN_START_H
#define PLAN_START_H

#include "base/err.h"
#include "plan/job.h"

int stage_start(struct stage_job *j, struct err *e);

/* If the user has configured no default agent and only one is installed, that one becomes the default. */
void stage_agent_default(struct context *c);
/* The agent that runs a stage: the stage's, the plan's, or the user's default; "script" for a shell. ERR_USAGE if
 * there is none. */
int stage_agent(const struct config *c, const struct plan *p, const struct plan_stage *s, const char **ret,
	struct err *e);
#define STAGE_AGENT_SCRIPT "script"
/* With a connection of runtime_run or _resume: waits until the command runs or has ended, then leaves it to its keeper. */
int start_let_go(int conn, struct err *e);

#endif
