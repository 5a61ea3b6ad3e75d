/*
 * The timers' jobs, one file each. A job reports lines for people, each about one thing. It fails only if the
 * job itself does not work.
 */
#ifndef SERVE_JOBS_H
#define SERVE_JOBS_H

#include <stdbool.h>

#include "base/err.h"
#include "base/strvec.h"
#include "task/context.h"

struct outcome {
	bool look;              /* dry run: remove nothing, say what would be removed */
	struct strvec done;     /* what was changed */
	struct strvec warnings; /* what somebody should check */
};
void outcome_release(struct outcome *o);
#define auto_outcome __attribute__((cleanup(outcome_release))) struct outcome

typedef int job_fn(struct context *c, struct outcome *o, struct err *e);

/* Removes stale tasks by the rules of `garth cleanup`. Names those that are kept because they run or hold the
 * only copy of their work (T6). */
job_fn job_stale;
/* gc: removes expired trash, bases that no task uses, leftovers; warns if much disk space is used (T6,
 * T7). */
job_fn job_tidy;
/* Cleans up after processes that died; reports what the doctor finds besides (T6, T9). */
job_fn job_orphans;
/* Verifies the audit log, from its first line to the newest one that the store knows (G7). */
job_fn job_audit;

#endif
