/*
 * Converts refs of earlier versions to the few of refs.h. They were
 *
 *	refs/garth/shown/<set>/<oid>     one for each ref that a task was shown, shared by tasks of one set
 *	refs/garth/snapshots/<id>/<n>    one for each snapshot
 *	refs/garth/trash/<id>/…          base, tip, published, layer, and shown-<oid> for each shown ref
 *	refs/garth/trash/<id>            before that: the base
 *
 * The store marks tasks that have them by another form of task->shown (shown_is_known). The new refs are made
 * first, then the old ones are removed, then the store is updated; after a crash in between, the conversion
 * starts again. Callers hold the project's lock.
 */
#ifndef TASK_REFS_OLD_H
#define TASK_REFS_OLD_H

#include <stdint.h>

#include "base/err.h"
#include "git/repo.h"
#include "store/store.h"
#include "task/context.h"

/* Converts one task, removed or not, that no other process works on. *ret_name (ret_name may be NULL) is
 * replaced by its new name in the store. */
int refs_old_move(
	struct context *c, const struct repo *r, const struct task *t, char **ret_name, struct err *e);
/* Converts all tasks of a project that can still be used and that no process works on. Does nothing once that
 * is done. */
int refs_old_move_all(struct context *c, const struct repo *r, int64_t project, struct err *e);

#endif
