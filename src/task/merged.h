/*
 * Finds out whether a task's work is in its target. A task is merged if its target reaches the tip of its
 * branch, or the commit that the tip became when it was squashed or rebased. The target is the local branch.
 * For a clone it is also the remote's branch as it was last fetched, since a clone comes from a remote. A
 * push to any other branch does not make a task merged.
 */
#ifndef TASK_MERGED_H
#define TASK_MERGED_H

#include <stdbool.h>

#include "base/err.h"
#include "base/strvec.h"
#include "git/repo.h"
#include "store/store.h"
#include "task/context.h"

/* The target's commits. None if the task has no target, or the branch is gone. */
int merged_targets(
	struct context *c, const struct repo *r, const struct task *t, struct strvec *ret, struct err *e);
/* Whether one of `targets` reaches a commit that the tip became (store_landed). */
bool merged_elsewhere(struct context *c, const struct repo *r, const struct task *t, const char *tip,
	const struct strvec *targets);

/* Whether the task is merged now. False if that cannot be found out. */
bool merged_is(struct context *c, const struct task *t);

#endif
