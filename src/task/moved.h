/*
 * Handles a task's branch that is not where the gateway left it. Either a gateway moved it and died before it
 * told the store: then the audit log has the commit, since it is written first. Or somebody moved it by hand:
 * then there may be two lines of work, and both are kept.
 */
#ifndef TASK_MOVED_H
#define TASK_MOVED_H

#include <stdbool.h>

#include "base/err.h"
#include "git/repo.h"
#include "task/context.h"

/* Whether the audit log says that Garth moved the branch to this commit, and how many bytes that added. */
int moved_by_garth(struct context *c, const struct task *t, const char *commit, bool *ret, int64_t *ret_bytes,
	struct err *e);

/* Somebody moved the branch to `now`. Makes a snapshot of what was published before, if its commits still
 * exist, and protects `now`: a publish that is not based on it is refused (moved_by_hand). */
int moved_keep(struct context *c, const struct repo *r, const struct task *t, int task_dir, const char *now,
	struct err *e);
/* Whether somebody moved the branch to this commit by hand. */
bool moved_by_hand(int task_dir, const char *commit);

#endif
