/* Plans that have begun, as JSON. The caller frees the values. */
#ifndef CLI_PLAN_STATUS_JSON_H
#define CLI_PLAN_STATUS_JSON_H

#include <jansson.h>

#include "plan/plan.h"
#include "store/plan.h"
#include "task/context.h"

/* A plan without its stages, and with them. */
json_t *plan_row_json(const struct context *c, const struct plan_row *row);
json_t *plan_status_json(
	struct context *c, const struct plan *p, const struct plan_row *row, const struct stage_row_list *l);
/* The results of a stage's checks. */
json_t *plan_results_json(struct context *c, const struct stage_row *s);
json_t *plan_history_json(const struct plan_event_list *l);

#endif
