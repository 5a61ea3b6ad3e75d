/*
 * Runs the checks of a stage, in the order of their kinds, on a commit. A check that passed once is not run again: results
 * are kept by the commit's tree, the check, and the walls that it runs behind. The first failure ends the round.
 */
#ifndef PLAN_CHECKS_H
#define PLAN_CHECKS_H

#include <stdbool.h>

#include "base/err.h"
#include "git/repo.h"
#include "plan/job.h"

enum checks_when {
	CHECKS_BEFORE, /* before the agent starts */
	CHECKS_AFTER,  /* on the agent's work */
	CHECKS_MERGED, /* on a merged tree: the same, and those of the plan */
	CHECKS_PLAN,   /* only those of the plan */
};

struct checks_result {
	bool passed;
	struct check_row failed; /* the one that failed */
};
void checks_result_release(struct checks_result *r);
#define auto_checks_result __attribute__((cleanup(checks_result_release))) struct checks_result

/* Runs the checks on the commit, and writes their results to the store. Blocks while they run. */
int checks_run(const struct stage_job *j, const struct repo *r, const char *commit, enum checks_when when,
	struct checks_result *ret, struct err *e);
/* Whether all results are known, so that no check has to run. */
int checks_known(const struct stage_job *j, const struct repo *r, const char *commit, enum checks_when when,
	bool *ret, struct err *e);
/* The name of a commit's tree. */
int checks_tree(
	struct context *c, const struct repo *r, const char *commit, char out[OID_SIZE], struct err *e);

#endif
