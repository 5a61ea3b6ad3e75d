/*
 * Runs a plan: starts each stage when its dependencies are done and a slot is free, checks its work, and merges it into the
 * integration branch, one stage after the other.
 *
 *	plan_lock(c, &row, &dir, &lock, e)
 *	plan_run(c, &row, &opts, &end, e)
 *
 * There is no daemon: agents run under their tasks' keepers, which outlive the runner. Each step reads the store, keepers
 * and refs, does one idempotent piece of work, and records it. So the runner can be killed at any time: the next one
 * (`garth plan resume`) continues from the store. Work that takes long is done by child processes, the workers: at most one
 * for each stage, and one for all merges. They die with the runner.
 */
#ifndef PLAN_RUN_STAGES_H
#define PLAN_RUN_STAGES_H

#include <stdbool.h>

#include "base/err.h"
#include "plan/plan.h"
#include "store/plan.h"
#include "task/context.h"

enum plan_run_end {
	PLAN_RUN_DONE,    /* all stages are done; row.merged and row.note say whether they were merged */
	PLAN_RUN_FAILED,  /* nothing can go on: a stage has failed, or was skipped or cancelled */
	PLAN_RUN_WAITS,   /* nothing can go on until a person does something */
	PLAN_RUN_STOPPED, /* by a signal; agents go on */
};

struct plan_run_opts {
	int dir;        /* the plan's directory */
	bool stays;     /* wait until a person does something; false: return PLAN_RUN_WAITS */
	bool fail_fast; /* start no stage after a failure */
	int tick_ms;    /* call show at least this often; 0: only after changes */
	/* Called after each round of steps; may be NULL. */
	void (*show)(const struct plan *p, const struct plan_row *row, const struct stage_row_list *stages,
		void *arg);
	void *arg;
};

int plan_run(struct context *c, struct plan_row *row, const struct plan_run_opts *o, enum plan_run_end *ret,
	struct err *e);

#endif
