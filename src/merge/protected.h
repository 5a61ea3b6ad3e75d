/*
 * Checks the result of a merge once more before the target moves (G5). The policy has checked what the task
 * published, but a merge follows renames: a file that the task changed may be a protected one on the other
 * side, and a new file may land in a directory that was moved to a protected path. It also refuses a question
 * that the agent committed (task/question.h).
 */
#ifndef MERGE_PROTECTED_H
#define MERGE_PROTECTED_H

#include "base/err.h"
#include "git/repo.h"
#include "merge/links.h"
#include "store/store.h"
#include "task/context.h"

/* ERR_REFUSED, with the paths and the command that allows them, if the difference between the two commits
 * changes a path that is protected from the task or outside of its scope, or adds a question.json that is a question. The user can
 * allow both. `moved` gets the submodules that the difference moves; it may be NULL. */
int protected_check(struct context *c, const struct repo *r, const struct task *t, const char *from,
	const char *to, struct links *moved, struct err *e);

#endif
