/* The brief: what an agent is told about its boundaries, as Markdown (A1). It is true for this task: its walls,
 * network, policy and limits. It costs tokens on every turn, so it has at most BRIEF_LINES_MAX lines. */
#ifndef TASK_BRIEF_H
#define TASK_BRIEF_H

#include "base/buf.h"
#include "base/err.h"
#include "task/context.h"
#include "task/network.h"
#include "task/task.h"

#define BRIEF_LINES_MAX 60

/* The configuration must be the task's (task/own_config.h). net: its network, NULL for the one that was chosen last. */
int brief_write(
	struct context *c, struct task_at *at, const struct network *net, struct buf *out, struct err *e);

#endif
