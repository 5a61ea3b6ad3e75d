/*
 * A task's refs in the user's repository: its branch, and what keeps `git gc` from taking away commits that
 * the task's private storage borrows and that no branch may hold any more. People see these refs in `git log
 * --all` and in their tools, so there are few: at most three for a task, and one for a removed one.
 *
 *	refs/heads/garth/<task>          the branch
 *	refs/garth/tasks/<id>/base       the commit that it began at, or has followed its target to
 *	refs/garth/tasks/<id>/kept       only where there is more to keep: a commit (git/pin.h) whose parents
 *	                                 are the tips of its snapshots, the base of its files after a sync, and
 *	                                 branches as it is and was shown them, unless another one reaches them
 *	refs/garth/trash/<id>/tip        of a task in the trash or an archive: the branch's tip, if it reaches
 *	                                 all that the task needs
 *	refs/garth/trash/<id>/kept       else: a commit as above
 *	refs/garth/trash/found-<name>/…  of what `garth doctor` put into the trash: head
 *	refs/garth/fetched/<home>-<pid>  what a process of this home has fetched, while it is at it
 *
 * Tags that a task is shown are not kept: the user's own refs hold them. One that is removed outside is
 * removed inside too (history/renew.h). Earlier versions had a ref for each snapshot, tag and trashed tag:
 * refs_old.h.
 */
#ifndef TASK_REFS_H
#define TASK_REFS_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/err.h"
#include "git/ref.h"
#include "store/store.h"
#include "task/context.h"

/* The ref that this process fetches to, on the heap. */
char *refs_fetched(const struct home *h);
/* Whether a ref is one of these, of this home, and its process is gone. */
bool refs_is_fetch_left(const struct home *h, const char *ref);

/* Makes them, and writes down what the task is shown (shown.h). ERR_EXISTS where the branch is there already.
 * The project's lock is taken. */
int refs_make(struct context *c, const struct repo *r, const struct task *t, const struct buf *shown,
	struct err *e);
/* Adds to a transaction what makes the refs beside the branch as the store and shown.h have it, a snapshot
 * that was just told to the store included. */
int refs_keep(
	struct context *c, const struct repo *r, const struct task *t, struct ref_txn *txn, struct err *e);
/* How many refs that would set; nothing is written. */
int refs_count_owed(
	struct context *c, const struct repo *r, const struct task *t, size_t *ret, struct err *e);
/* The commits that the ref `kept` keeps. */
int refs_kept(const struct repo *r, const struct task *t, struct strvec *ret, struct err *e);
/* Adds the ref that keeps all of a removed task. */
int refs_add_trash(struct context *c, const struct repo *r, const struct task *t, const char *tip,
	struct ref_txn *txn, struct err *e);

/* Removes them: the branch if it is at `tip` and checked out nowhere. With `trash`, one ref keeps all that
 * the task stands on, its snapshots too. One transaction; idempotent. *ret_kept tells that the branch stays
 * because a checkout has it. */
int refs_drop(struct context *c, const struct repo *r, const struct task *t, const char *tip, bool trash,
	bool *ret_kept, struct err *e);
/* Brings them back out of the trash, the branch at `tip`; one transaction. With `kept`, refs_drop left the
 * branch to a checkout: where it is still there, it is the task's, wherever it has got to. ERR_EXISTS where a
 * branch of the name was made meanwhile. The project's lock is taken. */
int refs_restore(struct context *c, const struct repo *r, const struct task *t, const char *tip, bool kept,
	struct err *e);
/* Only asks whether the branch's name is free for that. */
int refs_check_free(const struct repo *r, const struct task *t, const char *tip, bool kept, struct err *e);
/* Removes every pin of a task that leaves the trash for good. Only the repository's git directory is needed.
 */
int refs_forget(const struct repo *r, int64_t id, struct err *e);

/* The same for what `garth doctor` put into the trash, by its name there. */
int refs_forget_found(const struct repo *r, const char *name, struct err *e);

/* The task is going to be shown other refs: they are written down, and what is a branch is kept. */
int refs_renew(struct context *c, const struct repo *r, const struct task *t, const struct buf *shown,
	struct err *e);
/* The inside has them: the store and t->shown follow. Whoever dies before that is begun again. */
int refs_renewed(struct context *c, struct task *t, const struct buf *shown, struct err *e);

/* The refs of an earlier version become those of this one; t->shown follows. The project's lock is taken if
 * there is something to do. */
int refs_migrate(struct context *c, const struct repo *r, struct task *t, struct err *e);

#endif
