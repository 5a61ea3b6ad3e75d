/*
 * A task's refs in the user's repository: its branch, and pins. Pins keep `git gc` from removing commits that
 * the task's private repository borrows and that may be on no branch any more. People see these refs in `git
 * log --all` and in their tools, so there are few: at most three for a task, and one for a removed task.
 *
 *	refs/heads/garth/<task>          the branch
 *	refs/garth/tasks/<id>/base       the commit at which it started, or to which it was synced
 *	refs/garth/tasks/<id>/kept       only if there is more to keep: a commit (git/pin.h) whose parents are
 *	                                 the tips of its snapshots, the base of its files after a sync, and
 *	                                 branches that it is or was shown, unless another parent reaches them
 *	refs/garth/trash/<id>/tip        for a task in the trash or an archive: the branch's tip, if it reaches
 *	                                 everything that the task needs
 *	refs/garth/trash/<id>/kept       else: a commit as above
 *	refs/garth/trash/found-<name>/…  for what `garth doctor` put into the trash: head
 *	refs/garth/fetched/<home>-<pid>  what a process of this home has fetched, while it works with it
 *
 * In the repositories of submodules: submodule_refs.h.
 *
 * Tags that a task is shown have no pin: the user's own refs keep them. If a tag is removed outside, it is
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
#include "task/shown.h"

/* The ref that this process fetches to, on the heap. */
char *refs_fetched(const struct home *h);
/* Whether `ref` is such a ref of this home whose process is gone. */
bool refs_is_fetch_left(const struct home *h, const char *ref);

/* Makes the refs of a new task, and stores what it is shown (shown.h). ERR_EXISTS if the branch exists. Takes
 * the project's lock. */
int refs_make(struct context *c, const struct repo *r, const struct task *t, const struct shown *shown,
	struct err *e);
/* Updates all refs but the branch in a transaction, from the store and shown.h. A snapshot must be in the
 * store before. */
int refs_keep(
	struct context *c, const struct repo *r, const struct task *t, struct ref_txn *txn, struct err *e);
/* How many refs refs_keep would set; writes nothing. */
int refs_count_owed(
	struct context *c, const struct repo *r, const struct task *t, size_t *ret, struct err *e);
/* The commits that the ref `kept` keeps. */
int refs_kept(const struct repo *r, const struct task *t, struct strvec *ret, struct err *e);
/* Sets the ref `kept` of a submodule's repository: `t` has the submodule's base. */
int refs_keep_commits(const struct repo *r, const struct task *t, const struct strvec *commits,
	struct ref_txn *txn, struct err *e);
/* Adds the ref that keeps everything of a removed task to a transaction. */
int refs_add_trash(struct context *c, const struct repo *r, const struct task *t, const char *tip,
	struct ref_txn *txn, struct err *e);

/* Removes the refs in one transaction: the branch too, if it is at `tip` and no checkout has it. With
 * `trash`, one ref keeps everything that the task needs, including its snapshots. *ret_kept: the branch stays
 * because a checkout has it. Idempotent. */
int refs_drop(struct context *c, const struct repo *r, const struct task *t, const char *tip, bool trash,
	bool *ret_kept, struct err *e);
/* Restores the refs from the trash in one transaction, with the branch at `tip`. With `kept`, refs_drop left
 * the branch because a checkout had it: if it still exists, it is the task's, wherever it is now. ERR_EXISTS
 * if a new branch has the name. Takes the project's lock. */
int refs_restore(struct context *c, const struct repo *r, const struct task *t, const char *tip, bool kept,
	struct err *e);
/* Only checks whether the branch's name is free for refs_restore. */
int refs_check_free(const struct repo *r, const struct task *t, const char *tip, bool kept, struct err *e);
/* Removes every pin of a task that is removed from the trash. Needs only the repository's git directory. */
int refs_forget(const struct repo *r, int64_t id, struct err *e);

/* The same for what `garth doctor` put into the trash, by its name there. */
int refs_forget_found(const struct repo *r, const char *name, struct err *e);

/* Before the task is shown other refs: stores them (shown.h) and pins the branches among them. */
int refs_renew(struct context *c, const struct repo *r, const struct task *t, const struct shown *shown,
	struct err *e);
/* After the inside has them: updates the store and t->shown. If a process dies before that, the next one
 * starts again with refs_renew. */
int refs_renewed(struct context *c, struct task *t, const struct shown *shown, struct err *e);

/* Replaces the refs of an earlier version by those of this one; updates t->shown. Takes the project's lock if
 * there is something to do. */
int refs_migrate(struct context *c, const struct repo *r, struct task *t, struct err *e);

#endif
