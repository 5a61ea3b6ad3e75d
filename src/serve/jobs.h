/*
 * What the timers do, one file each. What is done and what was found are lines for people, each about one
 * thing; a failure is that of the job itself.
 */
#ifndef SERVE_JOBS_H
#define SERVE_JOBS_H

#include <stdbool.h>

#include "base/err.h"
#include "base/strvec.h"
#include "task/context.h"

struct outcome {
	bool look;              /* nothing is removed: what would be is told */
	struct strvec done;     /* what was changed */
	struct strvec warnings; /* what somebody should look at */
};
void outcome_release(struct outcome *o);
#define auto_outcome __attribute__((cleanup(outcome_release))) struct outcome

typedef int job_fn(struct context *c, struct outcome *o, struct err *e);

/* Stale tasks go as `garth cleanup` lets them; those that run, or have the only copy of their work, are named
 * (T6). */
job_fn job_stale;
/* gc: trash whose term is over, bases that nobody stands on, leftovers; a word where much room is taken (T6,
 * T7).
 */
job_fn job_tidy;
/* What processes that died left half done is settled; what the doctor finds besides is told (T6, T9). */
job_fn job_orphans;
/* The audit log, from its first line to the newest that the store knows (G7). */
job_fn job_audit;

#endif
