/*
 * A task's refs in the user's repository: its branch, and pins on every tip that it is shown, so that no
 * clean-up in the repository takes away what the task's private storage borrows.
 *
 *	refs/heads/garth/<task>          the branch
 *	refs/garth/shown/<set>/<oid>     the tips of one set of shown refs, shared by the tasks that show it
 *	refs/garth/trash/<id>            the base of a discarded task that is still in the trash
 */
#ifndef TASK_REFS_H
#define TASK_REFS_H

#include "base/buf.h"
#include "base/err.h"
#include "git/repo.h"
#include "store/store.h"
#include "task/context.h"

/* The set's name out of its lines; 32 characters. */
void refs_set_name(const struct buf *shown, char out[33]);
/* Makes the branch and the pins. ERR_EXISTS where the branch is there already. The project's lock is taken.
 */
int refs_make(struct context *c, const struct repo *r, const struct task *t, const struct buf *shown,
	struct err *e);
/* Removes them: the branch if it still is at the base, the pins if no other task needs them; with `trash`,
 * the base stays pinned for the trash. Does nothing twice. */
int refs_drop(struct context *c, const struct repo *r, const struct task *t, bool trash, struct err *e);

#endif
