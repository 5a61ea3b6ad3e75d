/*
 * The runner of a task's tickets: a process in the background, one for each task (plan_lock), which runs them as a plan's stages
 * are run (run_stages.h). It ends when nothing goes on without the task. Whatever it was killed at, the next one goes on.
 *
 *	tickets_wake(c, task, clean, e)   after anything that lets tickets go on: starts one unless there is one
 */
#ifndef PLAN_TICKET_RUNNER_H
#define PLAN_TICKET_RUNNER_H

#include "base/err.h"
#include "git/repo.h"
#include "plan/plan.h"
#include "store/plan.h"
#include "task/context.h"

/* For a task that has tickets, or is one's. Does nothing for others. The store is closed afterwards. `clean`: the process has no
 * descriptors that a runner must not keep open; else the runner is a new program. */
int tickets_wake(struct context *c, int64_t task, bool clean, struct err *e);
/* The runner itself. Returns when nothing goes on, or if there is one already. */
int tickets_run(struct context *c, int64_t task, struct err *e);

/* For run_stages.c. Before it reads the tickets: those of a cancelled task are cancelled, and it is found out which are merged. */
int tickets_look(struct context *c, const struct plan_row *row, const struct repo *r, struct strvec *unmerged,
	struct err *e);
/* Whether there is a reason to stay. */
bool tickets_runner_stays(struct context *c, const struct plan_row *row, const struct stage_row_list *all,
	const struct plan *p);

/* The task ends its run now, and is resumed with the results when nothing goes on any more. */
int tickets_block(struct context *c, struct task *t, const struct plan_row *row, struct err *e);

#endif
