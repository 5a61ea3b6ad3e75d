/* How far a plan is, told with its own task: nothing ever runs there, so the task's state says nothing of it. */
#ifndef CLI_PLAN_PROGRESS_H
#define CLI_PLAN_PROGRESS_H

#include <jansson.h>
#include <stdbool.h>

#include "task/context.h"
#include "task/task.h"

struct plan_progress {
	char state[32]; /* plan/stage_life.h */
	size_t done, total;
	bool runner; /* a process runs the plan */
	bool over;
};

/* False if the task is no plan's own, or its state says how far it is: it is merged, or removed. */
bool plan_progress(struct context *c, const struct task *t, struct plan_progress *ret);
/* "running, 2 of 5 stages done" */
char *plan_progress_text(const struct plan_progress *p);
/* {"plan_state","has_runner","stages_done","stages_total"}; null for other tasks. */
json_t *plan_progress_json(struct context *c, const struct task *t);

#endif
