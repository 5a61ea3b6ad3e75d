/*
 * Submodules in snapshots and rollbacks. A snapshot records the tip of the task's branch in each submodule. A rollback
 * brings each submodule to the tip of that time, or to the commit that the superproject's snapshot names; its branch in
 * the user's repository moves along. Uncommitted changes in a submodule are in no snapshot: a rollback puts them into
 * the stash of the submodule's private repository, and undoing it brings them back.
 */
#ifndef HISTORY_ROLLBACK_SUBMODULES_H
#define HISTORY_ROLLBACK_SUBMODULES_H

#include "inside/inside.h"

/* Records the tips for a new snapshot, in the caller's transaction. */
int snapshot_submodules(struct inside *in, int64_t number, struct err *e);

struct submodules_rollback {
	const struct snapshot *to;
	int64_t before;        /* the number of the snapshot that was taken first */
	bool full;             /* ignored files go, too */
	bool undo;             /* `to` is the snapshot that a rollback took first */
	struct strvec stashed; /* paths of submodules whose changes are in their stash now */
};
int rollback_submodules(struct inside *in, struct submodules_rollback *r, struct err *e);

#endif
