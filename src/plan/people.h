/*
 * What a person can do to a plan's stages, with or without a runner: each function changes the row in the store, and the
 * runner, if there is one, continues from there (plan_wake). ERR_REFUSED if the stage's state does not allow it; ERR_BUSY
 * if somebody else has just changed the stage: try again.
 */
#ifndef PLAN_PEOPLE_H
#define PLAN_PEOPLE_H

#include <stdbool.h>

#include "base/err.h"
#include "store/plan.h"
#include "task/context.h"

/* Approves the stage's start or its commit. tip: the id, or the beginning of the id, of the commit that the person has
 * seen; NULL: the commit that is there now. */
int people_approve(struct context *c, struct stage_row *s, const char *tip, struct err *e);
/* The reason becomes the agent's next prompt. A stage that has not begun is cancelled. */
int people_reject(struct context *c, struct stage_row *s, const char *reason, struct err *e);
/* The stage does not begin, and is not merged, until it is released. */
int people_hold(struct context *c, struct stage_row *s, struct err *e);
int people_release(struct context *c, struct stage_row *s, struct err *e);
/* Another turn for a stage that failed, was skipped or cancelled, or conflicts. prompt may be NULL. `check`: only run the
 * checks again. */
int people_retry(struct context *c, struct stage_row *s, const char *prompt, bool check, struct err *e);
/* These two end what runs in the stage's task. satisfied: stages that depend on it can start. */
int people_skip(struct context *c, struct stage_row *s, bool satisfied, struct err *e);
int people_cancel(struct context *c, struct stage_row *s, struct err *e);
/* Cancels all that is not over, and the plan. */
int people_cancel_plan(struct context *c, struct plan_row *p, struct err *e);

#endif
