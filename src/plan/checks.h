/*
 * The checks of a stage: all that the plan asks of a commit, in the order of the kinds. What passed once is not run
 * again: results are kept by the commit's tree, the check, and the walls that it runs behind. A failure ends the round.
 */
#ifndef PLAN_CHECKS_H
#define PLAN_CHECKS_H

#include <stdbool.h>

#include "base/err.h"
#include "git/repo.h"
#include "plan/job.h"

enum checks_when {
	CHECKS_BEFORE, /* those that come before the agent */
	CHECKS_AFTER,  /* those of what the agent has done */
	CHECKS_MERGED, /* the same, and those of the plan: on a merged tree */
	CHECKS_PLAN,   /* those of the plan alone */
};

struct checks_result {
	bool passed;
	struct check_row failed; /* the one that did not */
};
void checks_result_release(struct checks_result *r);
#define auto_checks_result __attribute__((cleanup(checks_result_release))) struct checks_result

/* Makes the checks on the commit, and writes their results to the store. Blocks while they run. */
int checks_run(const struct stage_job *j, const struct repo *r, const char *commit, enum checks_when when,
	struct checks_result *ret, struct err *e);
/* Whether all results are known, and none has to be run. */
int checks_known(const struct stage_job *j, const struct repo *r, const char *commit, enum checks_when when,
	bool *ret, struct err *e);
/* The name of a commit's tree. */
int checks_tree(struct context *c, const struct repo *r, const char *commit, char out[OID_SIZE], struct err *e);

#endif
