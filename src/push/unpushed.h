/*
 * Looks for commits of submodules that a push would name without anybody being able to fetch them, as
 * `git push --recurse-submodules=check` does.
 */
#ifndef PUSH_UNPUSHED_H
#define PUSH_UNPUSHED_H

#include "base/err.h"
#include "git/repo.h"

struct unpushed {
	const char *remote;  /* the superproject's */
	const char *base;    /* what counts as pushed if there are no refs of that remote */
	const char *tip;     /* what is to be pushed */
	const char *branch;  /* the task's branch, in the submodules too */
	const char *scratch; /* a ref that a remote's branch may be fetched to for a moment */
};

/* ERR_REFUSED, with the command that pushes it: a commit that is to be pushed names one of a submodule that none of the
 * submodule's remotes has, as last fetched, nor the task's branch there now (a clone of one branch keeps no record of the
 * others). That may block on the network. Submodules whose repository is not here are passed over: what they name was
 * not made here. So is everything if the user has set push.recurseSubmodules=no. */
int unpushed_check(const struct repo *r, const struct unpushed *u, struct err *e);

#endif
