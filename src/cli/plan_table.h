/* A plan's stages as a table for a terminal. */
#ifndef CLI_PLAN_TABLE_H
#define CLI_PLAN_TABLE_H

#include "base/strvec.h"
#include "keeper/wire.h"
#include "plan/plan.h"
#include "store/plan.h"
#include "task/context.h"

/* The table, at most as wide and as high as `size`; 0: no limit. With a height, the commands that the plan waits for follow
 * the table, and stages that wait for a person or work are shown before those that wait for their turn or are over. */
void plan_table_lines(const struct context *c, const struct plan *p, const struct plan_row *row,
	const struct stage_row_list *l, const struct wire_size *size, struct strvec *ret);
/* The command that the stage waits for, on the heap; NULL if there is none. */
char *plan_table_command(const struct context *c, const struct plan_row *row, const struct stage_row *s);

#endif
