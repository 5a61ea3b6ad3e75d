/* One stage of a running plan: what the runner's steps work on (start.h, check_stage.h, merge_stage.h). */
#ifndef PLAN_JOB_H
#define PLAN_JOB_H

#include "git/repo.h"
#include "plan/plan.h"
#include "plan/stage_life.h"
#include "store/plan.h"
#include "task/context.h"

struct stage_job {
	struct context *c;
	const struct plan *plan;          /* as it was frozen */
	const struct plan_stage *stage;   /* the stage, as the plan describes it */
	struct plan_row *row;             /* the plan in the store */
	struct stage_row *at;             /* its row in the store: state, task, commits */
	const struct stage_row_list *all; /* the rows of all stages; may be NULL */
	const struct repo *repo; /* the project's repository, if the runner has it open; NULL: open it */
	const char *walls;       /* of the user's configuration, for results of checks (check_key.h) */
};

/* The plan's integration branch, in full, on the heap. */
char *job_branch(const struct plan_row *p);
/* Opens the project's repository, without running git. */
int job_open_repo(struct context *c, const struct plan_row *p, struct repo *ret, struct err *e);
/* The tip of the integration branch. ERR_NOTFOUND if somebody removed it. */
int job_integration(
	struct context *c, const struct plan_row *p, const struct repo *r, char out[OID_SIZE], struct err *e);

#endif
