/*
 * Merges a task's published commits into its target branch. The user does this, never the agent.
 *
 * `git merge-tree --write-tree` computes the result (for a rebase: commit by commit) without a working tree.
 * Conflicts are reported by file, and nothing changes. If the target is checked out, the user's files in that
 * checkout take precedence: none of them is overwritten, not even ignored ones. The steps are:
 *
 *	journal: $GARTH_HOME/merges/<project>.json (old, new, checkout)     fault merge-journal
 *	for each submodule that moves too, the same steps beside it (followers.h)
 *	take the checkout's index.lock; refuse if a merge, rebase, cherry-pick, revert or bisect is in
 *	progress there, if a path to be added exists, if a local change is in the way (ERR_CONFLICT, the
 *	paths named)
 *	make the new files and the new index beside the checkout; audit line
 *	hold the ref (update-ref --stdin start/update/prepare)              fault merge-prepared
 *	exchange the files (merge-half after each), then the index          fault merge-tree
 *	move HEADs of submodules                                            fault merge-submodule(s)
 *	commit the ref                                                      fault merge-moved
 *	store: deed "merge", the task merged                                fault merge-stored
 *	journal removed
 *
 * At any moment each path is either the complete old file or the complete new one. After a crash,
 * merge_settle finishes the merge if the ref had moved, and reverts it if not. It touches only files that it
 * recognizes (update.h).
 */
#ifndef MERGE_MERGE_H
#define MERGE_MERGE_H

#include <stdbool.h>

#include "base/err.h"
#include "base/oid.h"
#include "base/strvec.h"
#include "store/store.h"
#include "task/context.h"
#include "task/task.h"

enum merge_kind { MERGE_COMMIT, MERGE_SQUASH, MERGE_REBASE };

struct merge_spec {
	enum merge_kind kind;
	bool no_ff;          /* make a merge commit even if a fast-forward is possible */
	const char *into;    /* short or full name of a branch; NULL: the task's target */
	const char *message; /* NULL: a default message */
	const char *tip;     /* the branch must be at this commit, which the user has seen; NULL: anywhere */
	const char *onto;    /* the target must be at this commit; NULL: anywhere */
	bool dry_run;        /* only report the result; writes nothing but objects */
};

/* A submodule that the merge gave another commit. */
struct merge_submodule {
	char *path;
	char old[OID_SIZE], new_oid[OID_SIZE];
	char *checkout; /* its checkout, which followed; NULL: none */
};

struct merge_result {
	char old[OID_SIZE], new_oid[OID_SIZE];
	char *target;   /* full name */
	char *checkout; /* the checkout that was updated; NULL: none */
	bool fast_forward;
	bool nothing;             /* the target already has everything */
	struct strvec conflicts;  /* paths; with ERR_CONFLICT */
	struct strvec in_the_way; /* paths of the user's files in the checkout; with ERR_CONFLICT */
	char *where;              /* the checkout that has them: `checkout`, or a submodule's */
	struct merge_submodule *submodules;
	size_t nsubmodules;
};
void merge_result_release(struct merge_result *r);
#define auto_merge_result __attribute__((cleanup(merge_result_release))) struct merge_result

/* Merges refs/heads/garth/<task> as it is now. The caller needs no lock; merges of one project wait for each
 * other. ERR_REFUSED if nothing was published. Updates t->state. */
int merge_task(struct context *c, struct task *t, const struct merge_spec *s, struct merge_result *ret,
	struct err *e);
/* Undoes a merge, if the target has not moved since. The checkout is updated by the same rules. */
int merge_undo(struct context *c, const struct deed *d, struct err *e);
/* For a task of which nothing else exists: undoes its merge as above, and keeps the merged commits on a
 * branch *ret_branch: garth/<task> if that name is free. */
int merge_undo_kept(struct context *c, const struct deed *d, char **ret_branch, struct err *e);
/* Finishes or reverts merges that a crash interrupted. *ret_done gets lines for people, "merge of 'fix' into
 * main: finished". */
int merge_settle(struct context *c, struct strvec *ret_done, struct err *e);

/* How far a task's branch and its target have diverged: the number of commits that only one of them has. The
 * store caches the result. */
struct divergence {
	size_t ahead, behind;
	char target[OID_SIZE]; /* the target's commit */
};
int merge_divergence(struct context *c, const struct task *t, struct divergence *ret, struct err *e);

#endif
