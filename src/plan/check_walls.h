/* The walls of a plan's checks, as they are now: for the keys of results (check_key.h). */
#ifndef PLAN_CHECK_WALLS_H
#define PLAN_CHECK_WALLS_H

#include "store/plan.h"
#include "task/context.h"

/* With the included files of the checkout, as a task that is made now would get them. On the heap. Call it before the
 * configuration of any task is read. */
char *check_walls_now(struct context *c, const struct plan_row *p);

#endif
