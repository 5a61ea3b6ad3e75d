/*
 * What a merge arrives at is looked at once more before it counts (G5). Policy was asked about what the task
 * published; a merge follows renames: a file that the task changed may have become a protected one on the
 * other side, and a new one may land in a directory that was moved to a protected place. And a question that
 * the agent committed (task/question.h) is no work.
 */
#ifndef MERGE_GUARD_H
#define MERGE_GUARD_H

#include "base/err.h"
#include "git/repo.h"
#include "store/store.h"
#include "task/context.h"

/* ERR_REFUSED, with the paths and the command that allows them, where the way from one commit to the other
 * changes a path that is protected from the task, or adds a question.json that is a question. Both can be
 * allowed. */
int guard(struct context *c, const struct repo *r, const struct task *t, const char *from, const char *to,
	struct err *e);

#endif
