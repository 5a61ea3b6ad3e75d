/*
 * Renames a task that is not running: its row, its branch, and the checkouts that have the branch.
 *
 *	the audit line
 *	in the store: name, branch, the deed; ref_was has the old branch         fault rename-marked
 *	the new branch is made, at the old one's commit                          fault rename-made
 *	every checkout that is on the old branch is put on the new one           fault rename-heads
 *	the old branch is removed                                                fault rename-removed
 *	in the store: ref_was is empty
 *
 * All under the lock of the task's directory. At no point a checkout has no branch. After a crash, task_settle
 * does the steps from the second on again; each is idempotent.
 *
 * The task's own repository belongs to the agent, so it is changed inside only, by the next process of its
 * gateway (inside/renamed.h). Its directory on the host keeps its name: an agent's memory, caches and open
 * shells refer to that path.
 */
#ifndef TASK_RENAME_H
#define TASK_RENAME_H

#include <stdbool.h>

#include "base/err.h"
#include "store/store.h"
#include "task/context.h"

/* ERR_EXISTS if the name or its branch is taken. ERR_REFUSED if the task runs, or if a rebase or bisect is in
 * progress that would return to the old branch. Updates *t. With `undone`, the deed is marked as undone and no
 * new one is added. */
int task_rename(
	struct context *c, struct task *t, const char *name, const struct deed *undone, struct err *e);
/* Does the steps on the repository, if they are owed. The caller holds the task's lock. */
int rename_finish(struct context *c, struct task *t, struct err *e);
/* The name before the rename, from its deed; on the heap. NULL if it cannot be read. */
char *rename_old_name(const struct deed *d);

#endif
