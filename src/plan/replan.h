/*
 * Applies a changed plan file to a plan that has begun. In one transaction:
 *
 *	a stage that says the same       stays as it is, with what was decided at the start
 *	a changed one that has not begun takes the new text
 *	a changed one that has begun     takes it too, and its agent is told: it goes to `rework`
 *	a new one                        is added, and waits
 *	one that the file lacks          is removed, if it has not begun, has failed, or was skipped or cancelled
 *
 * ERR_REFUSED, and nothing is changed, if a changed or removed stage is done, is running or is being merged; if the target
 * differs; if the plan is merged or cancelled.
 */
#ifndef PLAN_REPLAN_H
#define PLAN_REPLAN_H

#include "base/err.h"
#include "base/strvec.h"
#include "plan/plan.h"
#include "store/plan.h"
#include "task/context.h"

/* The caller holds the plan's lock. `p` has been through plan_decide; for unchanged stages it gets the decisions of the
 * plan before. *ret_told gets a line for each stage that has changed. */
int plan_replan(
	struct context *c, struct plan_row *row, struct plan *p, struct strvec *ret_told, struct err *e);

#endif
