/*
 * Finds out where a branch is checked out, from the repository's own files: HEAD, and worktrees/ with a
 * directory for each linked worktree.
 */
#ifndef MERGE_BRANCH_CHECKOUT_H
#define MERGE_BRANCH_CHECKOUT_H

#include "base/err.h"
#include "git/repo.h"

struct branch_checkout {
	char *top;   /* the checkout; NULL: the branch is checked out nowhere */
	char *admin; /* its git directory, with HEAD, index and the state of operations in progress */
};

void branch_checkout_release(struct branch_checkout *p);
#define auto_branch_checkout __attribute__((cleanup(branch_checkout_release))) struct branch_checkout

/* Finds the checkout of a branch (full name). Registered worktrees that no longer exist do not count.
 * ERR_CONFLICT if there are several, or if one is in the middle of a rebase or bisect of the branch. */
int branch_checkout_find(
	const struct repo *r, const char *branch, struct branch_checkout *ret, struct err *e);
/* ERR_CONFLICT, with its name, if a merge, rebase, cherry-pick, revert or bisect is in progress there, or if
 * the branch is no longer checked out there. branch is NULL for a detached HEAD. */
int branch_checkout_check(const struct branch_checkout *p, const char *branch, struct err *e);

#endif
