/*
 * Until when a model takes no more requests. That holds for a log-in: every agent that shares a log-in file or a key's variable with
 * the one that was told so waits, in all plans and tickets. An agent of which no log-in is known is a log-in of its own.
 */
#ifndef PLAN_QUOTA_H
#define PLAN_QUOTA_H

#include <stdint.h>

#include "base/err.h"
#include "plan/job.h"

/* Until when no stage of this agent is started; 0: now. */
int quota_until(const struct stage_job *j, const char *agent, int64_t *ret, struct err *e);
/* The model of this agent takes no more requests until then. A later time that is known already stays. */
int quota_set(const struct stage_job *j, const char *agent, int64_t until, struct err *e);

#endif
