/*
 * The runner of a task's tickets: a background process, at most one for each task (plan_lock), which runs them as the
 * stages of a plan are run (run_stages.h). It ends when no ticket can go on without the task. If it is killed at any point,
 * the next one continues.
 *
 *	tickets_wake(c, task, clean, e)   after anything that lets tickets go on: starts a runner unless one runs
 */
#ifndef PLAN_TICKET_RUNNER_H
#define PLAN_TICKET_RUNNER_H

#include "base/err.h"
#include "git/repo.h"
#include "plan/plan.h"
#include "store/plan.h"
#include "task/context.h"

/* For a task that has tickets or is the task of one; does nothing for others. The store is closed afterwards. `clean`: this
 * process has no descriptors that a runner must not keep open; if false, the runner is started as a new program. */
int tickets_wake(struct context *c, int64_t task, bool clean, struct err *e);
/* The runner itself. Returns when nothing goes on, or at once if another runner works. */
int tickets_run(struct context *c, int64_t task, struct err *e);

/* For run_stages.c, before it reads the tickets: cancels those of a cancelled task, and finds out which are merged. */
int tickets_look(struct context *c, const struct plan_row *row, const struct repo *r, struct strvec *unmerged,
	struct err *e);
/* Whether the runner has a reason to stay. */
bool tickets_runner_stays(struct context *c, const struct plan_row *row, const struct stage_row_list *all,
	const struct plan *p);

/* Notes that the task ends its run now, to be resumed with the results when nothing goes on any more. */
int tickets_block(struct context *c, struct task *t, const struct plan_row *row, struct err *e);

#endif
