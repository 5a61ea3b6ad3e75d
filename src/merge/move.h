/*
 * A branch moved from one commit to another, its checkout with it: what merging and taking a merge back have
 * in common, and what is done about one that a crash has cut short. The caller holds the project's lock
 * (journal.h).
 */
#ifndef MERGE_MOVE_H
#define MERGE_MOVE_H

#include <stdbool.h>

#include "base/err.h"
#include "base/strvec.h"
#include "git/repo.h"
#include "merge/journal.h"
#include "task/context.h"

/* Moves j->target from j->from to j->to, by the steps of merge.h. j->top and j->admin are filled in. With
 * dry_run, everything is looked at and nothing changes. ERR_CONFLICT with the paths that are in the way;
 * ERR_BUSY where the branch has moved meanwhile. */
int move_branch(struct context *c, const struct repo *r, struct journal *j, bool dry_run,
	struct strvec *in_the_way, struct err *e);

/* Finishes or takes back what the project's journal tells of, if there is one; a line for people. */
int move_settle(struct context *c, int64_t project, struct strvec *lines, struct err *e);

#endif
