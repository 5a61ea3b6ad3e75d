/*
 * Stages that may change the same files, in no order: they come one after the other. One that has begun to change files is
 * in the way of those that have not, until its work is merged or given up. Two that have both begun, because a person
 * took one of them back, only do not run at the same time. Pure functions.
 */
#ifndef PLAN_BESIDE_H
#define PLAN_BESIDE_H

#include "plan/plan.h"
#include "store/plan.h"

/* The index of a stage that this one has to wait for, -1 if it can start. A stage with a slot has started. */
long beside_blocker(const struct plan *p, const struct stage_row_list *all, size_t stage);

#endif
