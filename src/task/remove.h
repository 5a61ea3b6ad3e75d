/*
 * The steps of removing a task, and the trash, where removed tasks are kept for a while. Each step is
 * idempotent: after a crash, all of them are done again.
 *
 * An open deed "discard" (or "archive") in the store says that the task's directory goes to the trash; it is
 * added together with the state "discarding". In the trash, the file `keep` names the repository that has the
 * pins.
 */
#ifndef TASK_REMOVE_H
#define TASK_REMOVE_H

#include "base/err.h"
#include "store/store.h"
#include "task/context.h"

/* Does all steps for a task in state "discarding" or (half made) "creating". The caller holds its lock if its
 * directory exists. */
int remove_finish(struct context *c, struct task *t, struct err *e);
/* Removes the quarantine that a killed gateway left; does nothing while the task is in use. */
int remove_leftovers(struct context *c, struct task *t, bool *ret_found, struct err *e);
/* Removes the project's bases that no task uses. The task `but` does not count as a user (0: none). */
int remove_bases(struct context *c, int64_t project, int64_t but, bool later, struct err *e);
/* Removes tasks that have been in the trash for `seconds`, and their pins; adds their number to *ret. With
 * `later`, the files are removed in the background. */
int remove_trash(struct context *c, int64_t seconds, bool later, size_t *ret, struct err *e);

/* In the trash, directories that `garth doctor` found without a task have names with this prefix
 * (doctor/found.h). If there are pins for one, its file `keep` names the repository. */
#define REMOVE_FOUND "found-"

/* A file in a removed task's directory: its branch was not removed because a checkout has it. */
#define REMOVE_BRANCH_KEPT "branch-kept"

/* What undo needs, from the deed: the branch's tip and the task's state; and whether the task was archived,
 * or removed by a merge. */
struct discarded {
	char *tip, *state;
	bool archived, merged;
};
void discarded_release(struct discarded *d);
#define auto_discarded __attribute__((cleanup(discarded_release))) struct discarded
int discarded_read(const struct deed *d, struct discarded *ret, struct err *e);

/* Removes a task that never was anybody's: the one in which a set-up ran. Nothing goes to the trash, and no
 * list shows it. The caller holds its lock. After a crash the task is half made, and is removed by task_settle. */
int remove_for_good(struct context *c, struct task *t, struct err *e);
/* The file that marks such a task, in its directory: it has the name of the layer that is made. Who makes a layer
 * holds the layer's lock. */
#define SETUP_MARK "setup"

#endif
