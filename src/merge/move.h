/*
 * Moves a branch from one commit to another and updates its checkout: the common part of merging and of
 * undoing a merge, and of recovery after a crash. The caller holds the project's lock (journal.h).
 */
#ifndef MERGE_MOVE_H
#define MERGE_MOVE_H

#include <stdbool.h>

#include "base/err.h"
#include "base/strvec.h"
#include "git/repo.h"
#include "merge/journal.h"
#include "task/context.h"

/* Moves j->target from j->from to j->to, by the steps of merge.h. Fills in j->top and j->admin. With dry_run,
 * checks everything and changes nothing. ERR_CONFLICT with the paths that are in the way; ERR_BUSY if the
 * branch has moved meanwhile. */
int move_branch(struct context *c, const struct repo *r, struct journal *j, bool dry_run,
	struct strvec *in_the_way, struct err *e);

/* If the project has a journal: finishes or reverts what it describes, and adds a line for people. */
int move_settle(struct context *c, int64_t project, struct strvec *lines, struct err *e);

#endif
