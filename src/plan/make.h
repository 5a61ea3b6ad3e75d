/*
 * Makes a plan in the store: the plan as it is frozen, its stages, and the task whose branch is the integration branch.
 *
 *	plan_make(c, &spec, &row, e)     ERR_EXISTS if there is a plan, or a task, of that name
 *	plan_open(c, &row, &plan, e)     reads the frozen plan again
 *	plan_finish_making(c, …)         after a crash between the two steps of plan_make
 *
 * plan_lock keeps other runners away. The runner holds it, and so do the processes that it starts, so a new runner begins
 * only after the last of them has ended.
 */
#ifndef PLAN_MAKE_H
#define PLAN_MAKE_H

#include "base/err.h"
#include "git/repo.h"
#include "plan/plan.h"
#include "store/plan.h"
#include "task/context.h"

struct plan_make_spec {
	const char *dir; /* a directory of the repository; NULL for a plan that is in the store already */
	const struct plan *plan; /* after plan_decide; NULL in the same case */
	/* as in struct task_spec; may be NULL */
	int (*approve)(struct context *c, int64_t project, const struct config *asks, struct err *e);
};
/* Whether each stage has an agent that can run it. ERR_USAGE, ERR_CONFIG. */
int plan_check_agents(struct context *c, const struct plan *p, struct err *e);
/* ERR_REFUSED if the commit has something at the path where stages find their own files (task/stage_files.h). */
int plan_check_commit(const struct repo *r, const char *commit, struct err *e);
/* The file's absolute path, so that it is found again from another directory; "-" for the standard input. On the heap. */
char *plan_file_path(const struct plan *p);
int plan_make(struct context *c, const struct plan_make_spec *s, struct plan_row *ret, struct err *e);
int plan_finish_making(
	struct context *c, const struct plan_make_spec *s, struct plan_row *row, struct err *e);
int plan_open(struct context *c, const struct plan_row *row, struct plan *ret, struct err *e);

/* Finds a plan by NAME: in the current project, else in any. ERR_NOTFOUND. If word is NULL: the current project's only plan
 * that is not over, else its newest. ERR_USAGE if several are not over. */
int plan_find(struct context *c, const char *word, struct plan_row *ret, struct err *e);

/* ERR_BUSY if another runner works on the plan. *ret_dir is the plan's directory, which the caller closes. */
int plan_lock(struct context *c, const struct plan_row *row, int *ret_dir, int *ret_lock, struct err *e);
bool plan_has_runner(const struct context *c, const struct plan_row *row);
/*
 * A process that starts a stage's agent takes this lock before it writes that to the store, and holds it until the agent
 * runs. A command that cancels a stage writes that to the store first, and then waits for the lock: afterwards the agent
 * either runs and can be ended, or will never run.
 */
int plan_lock_start(const struct context *c, const struct stage_row *s, int *ret_lock, struct err *e);
/* ERR_FAILED if that takes too long. */
int plan_wait_start(const struct context *c, const struct stage_row *s, struct err *e);
/* Tells the runner, if there is one, that something has changed. */
void plan_wake(const struct context *c, int64_t plan);
/* The file in the plan's directory that a runner in the background prints to; the other files there are those of
 * task/stage_ask.h. */
#define PLAN_LOG_FILE "log"

#endif
