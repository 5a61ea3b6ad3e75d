/* git's worktrees in the user's repository. Callers hold the project's lock, because two `git worktree add`
 * at once compete for config.lock. */
#ifndef GIT_WORKTREE_H
#define GIT_WORKTREE_H

#include <stdbool.h>

#include "base/err.h"
#include "git/repo.h"

/* Adds a worktree at path for the existing branch, locked and without files. *ret_admin is its directory
 * beneath the repository's worktrees/; the caller frees it. With `shared`, the branch may be checked out
 * elsewhere too. */
int worktree_add(const struct repo *r, const char *path, const char *branch, bool shared, char **ret_admin,
	struct err *e);
/* Locks a worktree if it is not locked. */
int worktree_lock(const struct repo *r, const char *path, struct err *e);
/* Removes git's record of the worktree, if there is one, but none of its files. */
int worktree_forget(const struct repo *r, const char *path, struct err *e);

#define WORKTREE_REASON "in use by garth"

/* One record of a linked worktree. */
struct worktree {
	char *admin;  /* the directory with its HEAD and index */
	char *path;   /* where it is, or should be */
	char *head;   /* the branch's full name, or a commit */
	char *reason; /* why it is locked; NULL if it is not */
};
struct worktree_list {
	struct worktree *v;
	size_t n;
};
void worktree_list_release(struct worktree_list *l);
#define auto_worktree_list __attribute__((cleanup(worktree_list_release))) struct worktree_list
/* All linked worktrees. Broken records are skipped. */
int worktree_list(const struct repo *r, struct worktree_list *ret, struct err *e);

/* How a checkout uses a branch (full name); admin is its git directory. During a rebase or a bisect its HEAD
 * is detached and returns to the branch at the end. */
enum worktree_use { WORKTREE_NO_USE, WORKTREE_HEAD, WORKTREE_REBASE, WORKTREE_BISECT };
enum worktree_use worktree_use(const char *admin, const char *branch);
/* The path of the checkout, main or linked, that uses the branch in one of these ways; NULL for none. The
 * caller frees it. A linked worktree whose files are gone counts, as it does for git. Call this before
 * removing a branch: a checkout without its branch has no commit and shows every file as added. */
int worktree_with_branch(const struct repo *r, const char *branch, char **ret, struct err *e);

#endif
