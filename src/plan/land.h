/*
 * Merges a plan's integration branch into the user's branch. It is one merge of the plan's task, as `garth merge` makes it,
 * so one `garth undo` takes all of it back. If the user's branch has moved, the plan's own checks are run on the result
 * first. Afterwards the plan's task and its stages' tasks go to the trash, unless merge.keep says otherwise. Idempotent;
 * blocks.
 */
#ifndef PLAN_LAND_H
#define PLAN_LAND_H

#include <stdbool.h>

#include "base/err.h"
#include "plan/job.h"

/* j->stage and j->at are any stage of the plan; the checks run behind its walls. Sets row->merged; writes nothing to the
 * store. ERR_CONFLICT, ERR_REFUSED: nothing has moved. */
int plan_land(struct stage_job *j, struct err *e);
/* Only the merge, of what stages have done so far, while the plan goes on. */
int plan_land_part(struct stage_job *j, struct err *e);

#endif
