/*
 * Refs that earlier versions made, become the few of refs.h. They were
 *
 *	refs/garth/shown/<set>/<oid>     one for each ref that a task was shown, shared by tasks of one set
 *	refs/garth/snapshots/<id>/<n>    one for each snapshot
 *	refs/garth/trash/<id>/…          base, tip, published, layer, and shown-<oid> for each shown ref
 *	refs/garth/trash/<id>            before that: the base
 *
 * A task that has them has another form of name in the store (shown_is_known). The new refs are made first,
 * then the old ones go, and then the store is told: whoever dies in between begins again. Callers hold the
 * project's lock.
 */
#ifndef TASK_REFS_OLD_H
#define TASK_REFS_OLD_H

#include <stdint.h>

#include "base/err.h"
#include "git/repo.h"
#include "store/store.h"
#include "task/context.h"

/* One task that nobody else is at work on, removed or not. ret_name (may be NULL) is replaced by its new name
 * in the store. */
int refs_old_move(
	struct context *c, const struct repo *r, const struct task *t, char **ret_name, struct err *e);
/* All tasks of a project that can still be used and that nobody is at work on. Nothing once that is done. */
int refs_old_move_all(struct context *c, const struct repo *r, int64_t project, struct err *e);

#endif
