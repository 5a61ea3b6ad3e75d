/*
 * Makes a plan in the store: the plan as it is frozen, its stages, and the task whose branch is the integration branch.
 *
 *	plan_make(c, &spec, &row, e)     ERR_EXISTS if there is a plan, or a task, of that name
 *	plan_open(c, &row, &plan, e)     reads the frozen plan again
 *	plan_finish_making(c, …)         after a crash between the two steps of plan_make
 *
 * plan_lock keeps other runners away. It is held by the runner and by the processes that do its deeds, so that a new
 * runner does not begin before the last of them has ended.
 */
#ifndef PLAN_MAKE_H
#define PLAN_MAKE_H

#include "base/err.h"
#include "git/repo.h"
#include "plan/plan.h"
#include "store/plan.h"
#include "task/context.h"

struct plan_make_spec {
	const char *dir;         /* in the repository; NULL for a plan that is in the store already */
	const struct plan *plan; /* decided; the same */
	/* as in struct task_spec; may be NULL */
	int (*approve)(struct context *c, int64_t project, const struct config *asks, struct err *e);
};
/* Whether each stage has an agent that can run it. ERR_USAGE, ERR_CONFIG. */
int plan_check_agents(struct context *c, const struct plan *p, struct err *e);
/* ERR_REFUSED if the commit has a path of the name that stages' own files have inside (task/stage_files.h). */
int plan_check_commit(const struct repo *r, const char *commit, struct err *e);
int plan_make(struct context *c, const struct plan_make_spec *s, struct plan_row *ret, struct err *e);
int plan_finish_making(
	struct context *c, const struct plan_make_spec *s, struct plan_row *row, struct err *e);
int plan_open(struct context *c, const struct plan_row *row, struct plan *ret, struct err *e);

/* Finds a plan by the word of a person: NAME of the current project, else of any. ERR_NOTFOUND. */
int plan_find(struct context *c, const char *word, struct plan_row *ret, struct err *e);

/* ERR_BUSY if another runner works on the plan. *ret_dir is the plan's directory, which the caller closes. */
int plan_lock(struct context *c, const struct plan_row *row, int *ret_dir, int *ret_lock, struct err *e);
bool plan_has_runner(const struct context *c, const struct plan_row *row);
/*
 * A process that starts a stage's agent holds this lock from before it notes that until the agent runs. Who cancels a stage
 * writes that first, and waits for the lock: afterwards either the agent runs, and can be ended, or it never will.
 */
int plan_lock_start(const struct context *c, const struct stage_row *s, int *ret_lock, struct err *e);
/* ERR_FAILED if that takes too long. */
int plan_wait_start(const struct context *c, const struct stage_row *s, struct err *e);
/* Tells the runner, if there is one, that something has changed. */
void plan_wake(const struct context *c, int64_t plan);
/* In the plan's directory, beside those of task/stage_ask.h: where a runner in the background prints. */
#define PLAN_LOG_FILE "log"

#endif
