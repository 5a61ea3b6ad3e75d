/*
 * Finds out where a branch is checked out, from the repository's own files: HEAD, and worktrees/ with a
 * directory for each linked worktree.
 */
#ifndef MERGE_PLACE_H
#define MERGE_PLACE_H

#include "base/err.h"
#include "git/repo.h"

struct place {
	char *top;   /* the checkout; NULL: the branch is checked out nowhere */
	char *admin; /* its git directory, with HEAD, index and the state of operations in progress */
};

void place_release(struct place *p);
#define auto_place __attribute__((cleanup(place_release))) struct place

/* Finds the checkout of a branch (full name). Registered worktrees that no longer exist do not count.
 * ERR_CONFLICT if there are several, or if one is in the middle of a rebase or bisect of the branch. */
int place_find(const struct repo *r, const char *branch, struct place *ret, struct err *e);
/* ERR_CONFLICT, with its name, if a merge, rebase, cherry-pick, revert or bisect is in progress there, or if
 * the branch is no longer checked out there. */
int place_check(const struct place *p, const char *branch, struct err *e);

#endif
