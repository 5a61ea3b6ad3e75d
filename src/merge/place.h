/*
 * Where a branch is checked out. The places are read from the repository's own files: HEAD, and worktrees/
 * with a directory for each linked one.
 */
#ifndef MERGE_PLACE_H
#define MERGE_PLACE_H

#include "base/err.h"
#include "git/repo.h"

struct place {
	char *top;   /* the checkout; NULL: the branch is checked out nowhere */
	char *admin; /* its git directory: HEAD, index and what is in progress there */
};

void place_release(struct place *p);
#define auto_place __attribute__((cleanup(place_release))) struct place

/* The checkout of a branch (full name). Registered worktrees that are gone do not count. ERR_CONFLICT where
 * there are several, or where one is in the middle of rebasing or bisecting the branch. */
int place_find(const struct repo *r, const char *branch, struct place *ret, struct err *e);
/* ERR_CONFLICT, by name, where a merge, rebase, cherry-pick, revert or bisect is in progress there, or where
 * the branch is not checked out there any more. */
int place_check(const struct place *p, const char *branch, struct err *e);

#endif
