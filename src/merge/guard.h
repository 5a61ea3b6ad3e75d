/*
 * Checks the result of a merge once more before the target moves (G5). The policy has checked what the task
 * published, but a merge follows renames: a file that the task changed may be a protected one on the other
 * side, and a new file may land in a directory that was moved to a protected path. It also refuses a question
 * that the agent committed (task/question.h).
 */
#ifndef MERGE_GUARD_H
#define MERGE_GUARD_H

#include "base/err.h"
#include "git/repo.h"
#include "store/store.h"
#include "task/context.h"

/* ERR_REFUSED, with the paths and the command that allows them, if the difference between the two commits
 * changes a path that is protected from the task, or adds a question.json that is a question. The user can
 * allow both. */
int guard(struct context *c, const struct repo *r, const struct task *t, const char *from, const char *to,
	struct err *e);

#endif
