/*
 * A conflict of a stage that is solved in a task for that alone. The task begins from the integration branch and is shown the
 * stage's branch. Its agent is told what both sides were to do, and may change what both may. As long as the task exists, the
 * stage's row names it in place of the stage's own task (own_id), so it is run, checked and merged like any stage's task.
 *
 *	resolution_begin    the stage conflicts: its next start makes the task (stage_task.h)
 *	resolution_lacks    before its checks: whether the stage's own commit is missing from the solution
 *	resolution_merged   the solution is in the integration branch, and with it the stage's own work
 *	resolution_end      the conflict was not solved: the stage has its own task again
 */
#ifndef PLAN_RESOLUTION_H
#define PLAN_RESOLUTION_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/err.h"
#include "plan/job.h"

/* Changes the row; the caller writes it. `files` are the names of those that conflict, for people and the agent. */
int resolution_begin(struct stage_job *j, const char *files, struct err *e);
/* The name of the stage's own branch, in full, on the heap. */
int resolution_branch(struct stage_job *j, char **ret, struct err *e);
/* Whether the stage i is on the other side: it is merged, and does not come before this one anyway. */
bool resolution_is_against(const struct stage_job *j, size_t i);
/* Appends what the agent of that task is told in addition to the stage's brief. `first`: nothing has run there yet. */
void resolution_brief(const struct stage_job *j, bool first, struct buf *out);
/* These can be called for every stage: without a conflict they do nothing, or only move it. */
int resolution_lacks(struct stage_job *j, const struct repo *r, bool *ret, struct err *e);
/* `onto` is where the integration branch is now. */
int resolution_merged(struct stage_job *j, const char *onto, struct err *e);
/* Moves the stage to a state. The task for the conflict, if there is one, goes to the trash, unless it is in use. */
int resolution_end(struct stage_job *j, const char *to, const char *note, struct err *e);

/* Puts away the task that did not solve a conflict, if a runner was killed before it had done that. */
void resolution_clear(struct stage_job *j);

/* The stage cannot go on: it has failed. If a conflict was being solved, the stage waits for a person to solve it. */
int stage_give_up(struct stage_job *j, struct err *e, const char *note, ...)
	__attribute__((format(printf, 3, 4)));

#endif
