/* A plan and its stages as people and programs see them. */
#ifndef CLI_PLAN_STATUS_H
#define CLI_PLAN_STATUS_H

#include <jansson.h>

#include "base/err.h"
#include "base/strvec.h"
#include "plan/graph.h"
#include "plan/plan.h"
#include "store/plan.h"
#include "task/context.h"

/* Prints the command that the stage waits for, if there is one. */
void plan_status_hint(const struct context *c, const struct plan_row *row, const struct stage_row *s);
/* If the stage's work waits for approval: prints what the plan says of it that is not checked by a machine. */
void plan_status_statements(const struct plan_stage *s, const struct stage_row *r);
/* The graph of a plan that has begun, with the states of its stages. ERR_NOTFOUND. */
int plan_status_graph(
	struct context *c, const char *name, enum graph_style style, struct buf *out, struct err *e);
/* Prints the status of the plan; the exit code, or -1. */
int plan_status_print(struct context *c, const char *name, bool json, struct err *e);

#endif
