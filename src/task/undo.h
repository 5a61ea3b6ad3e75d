/*
 * Undoes a discard: restores the task from the trash with its files, drafts, branch, pins and snapshots, in
 * its old state.
 *
 *	in the store again, "discarding"     its name is taken from here on       fault undo-marked
 *	its directory moves out of the trash                                      fault undo-moved
 *	its refs are restored, in one transaction                                 fault undo-refs
 *	its workspace is put in its place (W2)                                    fault undo-placed
 *	in the store: its old state, the deed undone                              fault undo-stored
 *
 * All under the lock of its directory. After a crash or a failure before the last step, task_settle discards
 * the task again: then everything is in the trash as before, and the next undo starts from the beginning.
 */
#ifndef TASK_UNDO_H
#define TASK_UNDO_H

#include "base/err.h"
#include "store/store.h"
#include "task/context.h"

/* ERR_NOTFOUND if the trash was emptied, ERR_EXISTS if another task or branch has the name. Marks the deed as
 * undone. */
int task_undo_discard(struct context *c, const struct deed *d, struct err *e);

#endif
