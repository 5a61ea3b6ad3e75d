/*
 * A task's branch that is not where the gateway left it. A gateway that died had moved it and not told the
 * store: then the audit log has the commit, since deeds are recorded first. Else somebody moved it by hand,
 * and from then on two lines of work may be there: both are kept.
 */
#ifndef TASK_MOVED_H
#define TASK_MOVED_H

#include <stdbool.h>

#include "base/err.h"
#include "git/repo.h"
#include "task/context.h"

/* Whether a deed of the task's own arrived at the commit, and how many bytes it added. */
int moved_by_garth(struct context *c, const struct task *t, const char *commit, bool *ret, int64_t *ret_bytes,
	struct err *e);

/* The branch is at `now` by somebody's hand: what was published before becomes a snapshot, where it is still
 * there, and `now` is not overwritten by who does not stand on it (moved_by_hand). */
int moved_keep(struct context *c, const struct repo *r, const struct task *t, int task_dir, const char *now,
	struct err *e);
/* Whether somebody's hand put the branch to this commit. */
bool moved_by_hand(int task_dir, const char *commit);

#endif
