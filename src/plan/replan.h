/*
 * Takes a changed file over into a plan that was begun. In one transaction:
 *
 *	a stage that says the same       stays as it is, with what was decided at the start
 *	a changed one that has not begun takes the new text
 *	a changed one that has begun     takes it too, and its agent is told: it goes to `rework`
 *	a new one                        is added, and waits
 *	one that is not there any more   is removed, if it has not begun or has failed, or was skipped or cancelled
 *
 * ERR_REFUSED, and nothing has changed: a changed or removed stage that is done, or in which something runs or is merged at
 * this moment; another target; a plan that is merged or cancelled.
 */
#ifndef PLAN_REPLAN_H
#define PLAN_REPLAN_H

#include "base/err.h"
#include "base/strvec.h"
#include "plan/plan.h"
#include "store/plan.h"
#include "task/context.h"

/* The caller holds the plan's lock. `p` is decided; it gets what stays of the plan before. *ret_told gets a line for each
 * stage that is not as it was. */
int plan_replan(
	struct context *c, struct plan_row *row, struct plan *p, struct strvec *ret_told, struct err *e);

#endif
