/* Decides what the runner does with one stage next. */
#ifndef PLAN_STEP_H
#define PLAN_STEP_H

#include <stdbool.h>

#include "base/err.h"
#include "plan/job.h"

/* Work that takes long, and is done by a child process. */
enum stage_work { WORK_NONE, WORK_START, WORK_ASKED, WORK_CHECK, WORK_MERGE, WORK_LAND };

/* How many stages hold a slot, and what else a new start depends on. */
struct step_room {
	size_t plan; /* of this plan */
	size_t plan_max;
	size_t merging; /* stages of this plan that are being merged: 0 or 1 */
	bool fail_fast; /* after a failure, start nothing more */
	bool failed;    /* a stage has failed */
};

/* What a step has done. */
enum step_result {
	STEP_NONE,
	STEP_MOVED, /* the stage is in another state: the next step may follow at once */
	STEP_STALE  /* it has failed, or somebody else has changed it: read it again */
};

/* For the runner; j->repo is open. Does what does not block, and says which work is to be started in a process. Keeps the
 * numbers in `room` up to date. */
int step_stage(struct stage_job *j, struct step_room *room, enum stage_work *ret_work,
	enum step_result *ret_result, struct err *e);
/* Moves the stage to `failed`, with the reason. */
void step_fail(struct stage_job *j, const char *why);
/* Does such work, in a child process. A failure is written to the stage. */
int step_do(struct stage_job *j, enum stage_work work, struct err *e);

/* Whether the stage can go on without a person. */
bool step_goes_on(const struct stage_job *j);
/* Whether the stage waits for a person. */
bool step_wants_person(const struct stage_row *s);

#endif
