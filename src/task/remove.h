/*
 * The steps of removing a task, each of which does nothing twice, so that a crash between any two is made
 * good by going through them again; and the trash, where removed tasks are kept for a while.
 *
 * The store says whether a task's directory goes to the trash: there is an open deed "discard" (or
 * "archive"), added in the step that makes the task "discarding". In the trash, the file `keep` names the
 * repository that has the pins.
 */
#ifndef TASK_REMOVE_H
#define TASK_REMOVE_H

#include "base/err.h"
#include "store/store.h"
#include "task/context.h"

/* Goes through the steps for a task in state "discarding" or (half-made) "creating". The caller holds its
 * lock where its directory exists. */
int remove_finish(struct context *c, struct task *t, struct err *e);
/* Removes what a gateway that was killed left of its work; not while the task is in use. */
int remove_leftovers(struct context *c, struct task *t, bool *ret_found, struct err *e);
/* Removes the bases of a project that no task stands on but, perhaps, the one with that id (0: none). */
int remove_bases(struct context *c, int64_t project, int64_t but, bool later, struct err *e);
/* Removes what has been in the trash for so long, and its pins; *ret grows by the number of tasks. With
 * `later` the files go in the background. */
int remove_trash(struct context *c, int64_t seconds, bool later, size_t *ret, struct err *e);

/* What `garth doctor` found without a task is in the trash under a name that begins so (doctor/found.h). Its
 * file `keep` names the repository that has pins for it, where there are any. */
#define REMOVE_FOUND "found-"

/* In a removed task's directory: its branch was checked out somewhere, and stayed. */
#define REMOVE_BRANCH_KEPT "branch-kept"

/* What is needed to take a discard back, as the deed has it: the branch's tip, and the task's state; and
 * whether it was one on the way to an archive, or one that came with a merge. */
struct discarded {
	char *tip, *state;
	bool archived, merged;
};
void discarded_release(struct discarded *d);
#define auto_discarded __attribute__((cleanup(discarded_release))) struct discarded
int discarded_read(const struct deed *d, struct discarded *ret, struct err *e);

#endif
