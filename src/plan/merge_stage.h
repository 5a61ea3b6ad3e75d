/*
 * Merges a stage's commit into the integration branch. Only one stage is merged at a time: the runner moves a stage from
 * `queued` to `merging` only if no other stage is `merging`. Idempotent:
 *
 *	the integration branch has the commit already                the stage is done
 *	merge, without moving a branch
 *	checks of the stage and of the plan, if the tree is new      fault plan-merge-checked
 *	merge, onto the commit that was checked                      fault plan-merged; those of merge.h
 *	the integration branch has the commit                        the stage is done; fault plan-stage-done
 *
 * `done` is written only after the last of these steps.
 */
#ifndef PLAN_MERGE_STAGE_H
#define PLAN_MERGE_STAGE_H

#include <stdbool.h>

#include "base/err.h"
#include "plan/job.h"

int stage_merge(struct stage_job *j, struct err *e);
/* Whether the integration branch has the stage's commit, whoever merged it. */
int stage_is_merged(struct stage_job *j, bool *ret, struct err *e);

#endif
