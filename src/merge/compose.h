/*
 * The commit that a merge arrives at, computed from two commits without a checkout. Nothing but objects is
 * written; no ref moves.
 */
#ifndef MERGE_COMPOSE_H
#define MERGE_COMPOSE_H

#include <stdbool.h>

#include "base/err.h"
#include "base/strvec.h"
#include "git/repo.h"
#include "merge/merge.h"
#include "merge/verbs.h"

struct compose {
	const struct repo *repo;
	const struct merge_spec *spec;
	const char *task; /* its name, for messages */
	const char *old;  /* the target's commit */
	const char *tip;  /* the task's */

	/* What comes of it: */
	char new_oid[OID_SIZE];
	bool fast_forward;
	bool nothing; /* new_oid is old */
};

/* ERR_CONFLICT, with the paths, where the two cannot be brought together. */
int compose_run(struct compose *c, struct strvec *conflicts, struct err *e);

#endif
