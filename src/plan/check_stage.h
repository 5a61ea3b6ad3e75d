/*
 * Checks a stage's commit, and says what follows: the next gate, the queue, another turn of the agent, or the end.
 * Blocks while the checks run. After a crash it is called again: what has passed is not run again.
 */
#ifndef PLAN_CHECK_STAGE_H
#define PLAN_CHECK_STAGE_H

#include "base/err.h"
#include "plan/checks.h"
#include "plan/job.h"

/* The stage is `checking`. */
int stage_check(struct stage_job *j, struct err *e);
/* The same, for a commit whose results are all known (checks_known): nothing is run. j->repo is open. */
int stage_check_known(struct stage_job *j, struct err *e);
/* The checks that come before the agent, on the commit that it begins from; the stage is `ready`. *ret_failed: one of them
 * failed, and so did the stage. */
int stage_check_before(struct stage_job *j, const char *base, bool *ret_failed, struct err *e);
/* Runs the checks for an agent that is still working and asks for them (task/stage_ask.h). The agent gets an answer; the
 * stage does not change. */
int stage_check_asked(struct stage_job *j, struct err *e);
/* Whether the stage's agent asks for its checks now. */
bool stage_asks_for_checks(const struct stage_job *j);
/* A check failed, on the stage's commit or after its merge: the agent gets another turn, or the stage has failed. */
int stage_failed(struct stage_job *j, const struct check_row *failed, const char *prompt, struct err *e);

#endif
