/* git's own worktrees, registered in the user's repository. Callers hold the project's lock: git races with
 * itself on config.lock when several are added at once. */
#ifndef GIT_WORKTREE_H
#define GIT_WORKTREE_H

#include "base/err.h"
#include "git/repo.h"

/* Adds one at path, for the existing branch, locked, with no files in it. *ret_admin is its directory beneath
 * the repository's worktrees/, on the heap. */
int worktree_add(const struct repo *r, const char *path, const char *branch, char **ret_admin, struct err *e);
/* Forgets it; its files must be gone or moved away already. */
int worktree_forget(const struct repo *r, const char *path, struct err *e);

#endif
