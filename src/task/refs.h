/*
 * A task's refs in the user's repository: its branch, and pins on every tip that it is shown, so that no
 * clean-up in the repository takes away what the task's private storage borrows.
 *
 *	refs/heads/garth/<task>          the branch
 *	refs/garth/shown/<set>/<oid>     the tips of one set of shown refs, shared by the tasks that show it
 *	refs/garth/snapshots/<id>/<n>    the tips that its snapshots name
 *	refs/garth/trash/<id>/…          of a discarded task that is still in the trash: base, tip (of its
 *	                                 branch), published and layer where they are others, shown-<oid> for
 *each tip that it was shown; of earlier versions: the base, by the number alone
 *	refs/garth/trash/found-<name>/…  of what `garth doctor` put into the trash: head
 *	refs/garth/fetched/<home>-<pid>  what a process of this home has fetched, while it is at it
 */
#ifndef TASK_REFS_H
#define TASK_REFS_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/err.h"
#include "git/repo.h"
#include "store/store.h"
#include "task/context.h"

/* The set's name out of its lines, 32 characters: another one in each Garth home, none of which knows whether
 * the other's tasks still need the pins. */
void refs_set_name(const struct home *h, const struct buf *shown, char out[33]);
/* The ref of a snapshot, on the heap. */
char *refs_snapshot(int64_t task, int64_t number);
/* The ref that this process fetches to, on the heap. */
char *refs_fetched(const struct home *h);
/* Whether a ref is one of these, of this home, and its process is gone. */
bool refs_is_fetch_left(const struct home *h, const char *ref);

/* Makes the branch and the pins. ERR_EXISTS where the branch is there already. The project's lock is taken.
 */
int refs_make(struct context *c, const struct repo *r, const struct task *t, const struct buf *shown,
	struct err *e);
/* Removes them: the branch if it is at `tip` and checked out nowhere, the pins of the set if no other task
 * needs them. With `trash`, all that the task stands on stays pinned for the trash, its snapshots too. One
 * transaction; does nothing twice. *ret_kept tells that the branch stays because a checkout has it. */
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

/* The task is shown other refs from now on: the new tips are pinned, and those of the old set too, on which
 * its drafts may stand. t->shown follows. */
int refs_renew(
	struct context *c, const struct repo *r, struct task *t, const struct buf *shown, struct err *e);

#endif
