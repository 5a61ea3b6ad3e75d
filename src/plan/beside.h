/*
 * Stages that may change the same files and do not depend on each other: they run one after the other. A stage that has
 * begun to change files blocks those that have not begun, until its work is merged or given up. If two of them have begun,
 * because a person let one try again, they only must not run at the same time. Pure functions.
 */
#ifndef PLAN_BESIDE_H
#define PLAN_BESIDE_H

#include "plan/plan.h"
#include "store/plan.h"

/* The index of a stage that this one has to wait for, -1 if it can start. A stage with a slot has started. */
long beside_blocker(const struct plan *p, const struct stage_row_list *all, size_t stage);

#endif
