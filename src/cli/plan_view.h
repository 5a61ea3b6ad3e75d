/* What `garth plan run` shows while it runs: on a terminal a table that is updated, else a line for each change. */
#ifndef CLI_PLAN_VIEW_H
#define CLI_PLAN_VIEW_H

#include <stdbool.h>
#include <stddef.h>

#include "plan/plan.h"
#include "store/plan.h"
#include "task/context.h"

struct plan_view {
	const struct context *c;
	bool json;     /* nothing is shown */
	char **states; /* the states of the stages when they were last shown */
	char **notes;
	size_t n;
	bool screen; /* on a terminal; `lines`: the height of the table that is shown now */
	size_t lines;
	int64_t begun;
};

void plan_view_begin(struct plan_view *v, int *ret_tick_ms);
/* For plan_run_opts. */
void plan_view_show(
	const struct plan *p, const struct plan_row *row, const struct stage_row_list *stages, void *view);
void plan_view_end(struct plan_view *v);
void plan_view_release(struct plan_view *v);

#endif
