/*
 * Bringing a task's published commits to the branch they are meant for. The user does this, never the agent.
 *
 * The result is computed with `git merge-tree --write-tree` (rebase: commit by commit), without a working
 * tree; conflicts are reported by file with nothing changed. Where the target is checked out, that checkout
 * is the user's and comes first: nothing in it is overwritten, ignored files included. In this order:
 *
 *	journal: $GARTH_HOME/merges/<project>.json (old, new, checkout)     fault merge-journal
 *	take the checkout's index.lock; refuse if a merge, rebase, cherry-pick, revert or bisect is in
 *	progress there, if a path to be added exists, if a local change is in the way (ERR_CONFLICT, the
 *	paths named)
 *	make the new files and the new index beside the checkout; audit line
 *	hold the ref (update-ref --stdin start/update/prepare)              fault merge-prepared
 *	exchange the files (merge-half after each), then the index          fault merge-tree
 *	commit the ref                                                      fault merge-moved
 *	store: deed "merge", the task merged                                fault merge-stored
 *	journal removed
 *
 * At any moment each path is the old file or the new one, whole. After a crash merge_settle finishes what had
 * moved the ref and reverts what had not, touching only files that are still the ones that it knows
 * (update.h).
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
	bool no_ff;          /* a merge commit even where the target could just move */
	const char *into;    /* a branch's short or full name; NULL: the task's target */
	const char *message; /* NULL: one is made */
	bool dry_run;        /* say what would come of it; only objects are written */
};

struct merge_result {
	char old[OID_SIZE], new_oid[OID_SIZE];
	char *target;   /* full name */
	char *checkout; /* the checkout that was brought along, NULL for none */
	bool fast_forward;
	bool nothing;             /* the target has it all already */
	struct strvec conflicts;  /* paths; with ERR_CONFLICT */
	struct strvec in_the_way; /* paths of the user's in the checkout; with ERR_CONFLICT */
};
void merge_result_release(struct merge_result *r);
#define auto_merge_result __attribute__((cleanup(merge_result_release))) struct merge_result

/* Merges refs/heads/garth/<task> as it is now. The caller holds nothing; the project's merges are serialized
 * by a lock of their own. ERR_REFUSED where nothing was published. t->state is brought up to date. */
int merge_task(struct context *c, struct task *t, const struct merge_spec *s, struct merge_result *ret,
	struct err *e);
/* Takes a merge back, as long as the target has not moved; the checkout by the same rules. */
int merge_undo(struct context *c, const struct deed *d, struct err *e);
/* For a task of which nothing else is left: its merge is taken back as above, and what it arrived at stays on
 * a branch, *ret_branch, garth/<task> where that name is free. */
int merge_undo_kept(struct context *c, const struct deed *d, char **ret_branch, struct err *e);
/* Finishes or reverts what a crash left behind. *ret_done: lines for people, "merge of 'fix' into main:
 * finished". */
int merge_settle(struct context *c, struct strvec *ret_done, struct err *e);

/* How a task's branch relates to its target: commits that only it has, and that only the target has. Cached
 * in the store by the two commits. */
struct divergence {
	size_t ahead, behind;
	char target[OID_SIZE]; /* where the target is */
};
int merge_divergence(struct context *c, const struct task *t, struct divergence *ret, struct err *e);

#endif
