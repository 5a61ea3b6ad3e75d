/*
 * Starts a stage's agent: the stage is `ready` (or `rework`), and is `running` afterwards. Idempotent: after a crash
 * at any point it is called again, and finds what is there.
 *
 *	the task, made from the tip of the integration branch       fault plan-stage-task
 *	the checks that come before its first run, on the task's base; if one fails, the stage has failed
 *	what the plan says of it: stage.yaml, its brief              fault plan-stage-told
 *	store: a run is about to start, and which one was the last   fault plan-stage-noted
 *	the run                                                      fault plan-stage-run
 *	store: running                                               fault plan-stage-running
 *
 * It blocks, for as long as a set-up takes.
 */
#ifndef PLAN_START_H
#define PLAN_START_H

#include "base/err.h"
#include "plan/job.h"

int stage_start(struct stage_job *j, struct err *e);

/* If the user names no agent and only one is installed, that is the default from here on. */
void stage_agent_default(struct context *c);
/* The agent that runs a stage: the stage's, the plan's, or the user's default; "script" for a shell. ERR_USAGE if
 * there is none. */
int stage_agent(const struct config *c, const struct plan *p, const struct plan_stage *s, const char **ret,
	struct err *e);
#define STAGE_AGENT_SCRIPT "script"

#endif
