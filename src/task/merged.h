/*
 * Whether a task's work is where it was meant to be. A task is merged if its target reaches the tip of its
 * branch, or the commit that the tip became when it was squashed or rebased on its way there; the target is
 * the local branch, and for a clone, which comes from a remote and goes there, also the remote's branch as it
 * was last fetched. A push to any other branch does not make a task merged.
 */
#ifndef TASK_MERGED_H
#define TASK_MERGED_H

#include <stdbool.h>

#include "base/err.h"
#include "base/strvec.h"
#include "git/repo.h"
#include "store/store.h"
#include "task/context.h"

/* The commits that stand for the target. None where the task has no target, or it is gone. */
int merged_targets(
	struct context *c, const struct repo *r, const struct task *t, struct strvec *ret, struct err *e);
/* Whether one of these reaches what the tip became elsewhere (store_landed). */
bool merged_elsewhere(struct context *c, const struct repo *r, const struct task *t, const char *tip,
	const struct strvec *targets);

/* Whether the task is merged, now. What cannot be asked is not. */
bool merged_is(struct context *c, const struct task *t);

#endif
