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
#include "merge/links.h"
#include "task/context.h"

struct move_result {
	struct strvec
		in_the_way; /* with ERR_CONFLICT: paths of the user's files, from the top of the superproject */
	char *where;        /* the checkout that has them: that of the branch, or of a submodule */
	bool half;          /* it failed, and could not be taken back completely: the journal stays */
};
void move_result_release(struct move_result *r);
#define auto_move_result __attribute__((cleanup(move_result_release))) struct move_result

/* Moves j->target from j->from to j->to, by the steps of merge.h. `links` are the submodules that differ (links.h).
 * Fills in j->top, j->admin and j->links. With dry_run, checks everything and changes nothing. ERR_CONFLICT if something
 * is in the way; ERR_BUSY if the branch has moved meanwhile. */
int move_branch(struct context *c, const struct repo *r, struct journal *j, const struct links *links,
	bool dry_run, struct move_result *ret, struct err *e);

/* If the project has a journal: finishes or reverts what it describes, and adds a line for people. */
int move_settle(struct context *c, int64_t project, struct strvec *lines, struct err *e);

#endif
