/*
 * Taking a discard back: the task comes out of the trash with its files, drafts, branch, pins and snapshots,
 * in the state that it had.
 *
 *	in the store again, "discarding"     its name is its own from here on     fault undo-marked
 *	its directory moves out of the trash                                      fault undo-moved
 *	its refs come back, in one transaction                                    fault undo-refs
 *	its workspace takes its place (W2)                                        fault undo-placed
 *	in the store: its old state, the deed undone                              fault undo-stored
 *
 * All under the lock of its directory. After a crash or a failure before the last step, task_settle discards
 * it again: everything is in the trash as it was, and the next undo begins anew.
 */
#ifndef TASK_UNDO_H
#define TASK_UNDO_H

#include "base/err.h"
#include "store/store.h"
#include "task/context.h"

/* ERR_NOTFOUND where the trash was emptied meanwhile, ERR_EXISTS where another task or branch has the name.
 * The deed is marked as undone. */
int task_undo_discard(struct context *c, const struct deed *d, struct err *e);

#endif
