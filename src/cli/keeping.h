/* What a task's keeper is given by the command that starts it: walls, limits, and what its processes do. */
#ifndef CLI_KEEPING_H
#define CLI_KEEPING_H

#include "base/err.h"
#include "cli/session.h"
#include "jail/order.h"
#include "task/run.h"

/* Describes the walls and starts a keeper, which takes the lock over. main_cmd and run may be NULL: then the
 * first client brings a command. */
int keeping_start(struct context *c, struct task *t, const struct session_opts *o,
	const struct order_cmd *main_cmd, struct task_run *run, int *lock, int *ret_conn, struct err *e);

#endif
