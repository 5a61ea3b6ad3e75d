/* Starts a task's keeper: describes the jail, sets limits, forks the keeper. Blocks. */
#ifndef RUNTIME_START_KEEPER_H
#define RUNTIME_START_KEEPER_H

#include "base/err.h"
#include "jail/order.h"
#include "runtime/run.h"
#include "task/run.h"

/* `lock` is the task's lock, held; the caller closes it, and the keeper has its own copy. main_cmd and run
 * may be NULL: then the first client sends a command. */
int start_keeper(struct context *c, struct task *t, const struct run_opts *o,
	const struct order_cmd *main_cmd, struct task_run *run, int lock, int *ret_conn, struct err *e);

#endif
