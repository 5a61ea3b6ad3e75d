/*
 * Computes the result of a merge, a commit, from two commits without a checkout. Writes only objects; no ref
 * moves.
 */
#ifndef MERGE_COMPOSE_H
#define MERGE_COMPOSE_H

#include <stdbool.h>

#include "base/err.h"
#include "base/strvec.h"
#include "git/repo.h"
#include "merge/git_commands.h"
#include "merge/merge.h"

struct compose {
	const struct repo *repo;
	const struct merge_spec *spec;
	const char *task; /* the task's name, for messages */
	const char *old;  /* the target's commit */
	const char *tip;  /* the task's commit */

	/* Results: */
	char new_oid[OID_SIZE];
	bool fast_forward;
	bool nothing; /* new_oid is the same as old */
};

/* ERR_CONFLICT, with the paths, if the two commits conflict. */
int compose_run(struct compose *c, struct strvec *conflicts, struct err *e);

#endif
