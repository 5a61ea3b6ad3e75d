/* git's own worktrees, registered in the user's repository. Callers hold the project's lock: git races with
 * itself on config.lock when several are added at once. */
#ifndef GIT_WORKTREE_H
#define GIT_WORKTREE_H

#include <stdbool.h>

#include "base/err.h"
#include "git/repo.h"

/* Adds one at path, for the existing branch, locked, with no files in it. *ret_admin is its directory beneath
 * the repository's worktrees/, on the heap. With `shared`, the branch may be checked out elsewhere too. */
int worktree_add(const struct repo *r, const char *path, const char *branch, bool shared, char **ret_admin,
	struct err *e);
/* Locks one that is not. */
int worktree_lock(const struct repo *r, const char *path, struct err *e);
/* Removes git's record of it, where there is one, and no file of its own. */
int worktree_forget(const struct repo *r, const char *path, struct err *e);

#define WORKTREE_REASON "in use by garth"

/* What the repository knows of one; its own main checkout is none. */
struct worktree {
	char *admin;  /* the directory with its HEAD and index */
	char *path;   /* where it stands, or should */
	char *head;   /* the branch's full name, or a commit */
	char *reason; /* why it is locked; NULL where it is not */
};
struct worktree_list {
	struct worktree *v;
	size_t n;
};
void worktree_list_release(struct worktree_list *l);
#define auto_worktree_list __attribute__((cleanup(worktree_list_release))) struct worktree_list
/* All that are registered. Those whose record is broken are passed over. */
int worktree_list(const struct repo *r, struct worktree_list *ret, struct err *e);

/* What a checkout does with a branch (full name); admin is its git directory. During a rebase or a bisect its
 * HEAD is detached, and comes back to the branch at the end. */
enum worktree_use { WORKTREE_NO_USE, WORKTREE_HEAD, WORKTREE_REBASE, WORKTREE_BISECT };
enum worktree_use worktree_use(const char *admin, const char *branch);
/* The checkout that has the branch in one of these ways, the main one or a linked one: its path, on the heap;
 * NULL for none. A linked one whose files are gone counts, as it does for git. Whoever removes a branch asks
 * this first: without its branch, a checkout has no commit, and shows every file as added. */
int worktree_with_branch(const struct repo *r, const char *branch, char **ret, struct err *e);

#endif
