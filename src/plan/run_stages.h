/*
 * Runs a plan: starts its stages as far as what they need is done and there is room, checks what they did, and merges it
 * into the integration branch, one after the other.
 *
 *	plan_lock(c, &row, &dir, &lock, e)
 *	plan_run(c, &row, &opts, &end, e)
 *
 * There is no daemon: agents run in their tasks' keepers, which outlive the runner. Each step reads the store, keepers and
 * refs, does one deed that is idempotent, and writes it down. So the runner can be killed at any time: the next one
 * (`garth plan resume`) goes on from the store. Deeds that take time are done by processes of their own: one for
 * each stage at most, and one for all merges together. They die with the runner.
 */
#ifndef PLAN_RUN_STAGES_H
#define PLAN_RUN_STAGES_H

#include <stdbool.h>

#include "base/err.h"
#include "plan/plan.h"
#include "store/plan.h"
#include "task/context.h"

enum plan_run_end {
	PLAN_RUN_DONE,    /* all stages are done; row.merged and row.note say what became of the merge */
	PLAN_RUN_FAILED,  /* nothing can go on: a stage has failed, or was skipped or cancelled */
	PLAN_RUN_WAITS,   /* nothing can go on before a person does something */
	PLAN_RUN_STOPPED, /* by a signal; agents go on */
};

struct plan_run_opts {
	int dir; /* the plan's directory */
	bool stays;     /* wait for people; else PLAN_RUN_WAITS */
	bool fail_fast; /* begin nothing more after a failure */
	int tick_ms;    /* show at least so often; 0: only changes */
	/* Called after each round of steps; may be NULL. */
	void (*show)(const struct plan *p, const struct plan_row *row, const struct stage_row_list *stages, void *arg);
	void *arg;
};

int plan_run(struct context *c, struct plan_row *row, const struct plan_run_opts *o, enum plan_run_end *ret,
	struct err *e);

#endif
