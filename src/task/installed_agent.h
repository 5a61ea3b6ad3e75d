/* Which of the agents that are known a task could run: whose program tasks are shown. */
#ifndef TASK_INSTALLED_AGENT_H
#define TASK_INSTALLED_AGENT_H

#include "base/buf.h"
#include "task/context.h"

/* The first of them, or NULL; how many there are, and their names in one line (may be NULL). */
const struct config_agent *installed_agent(const struct context *c, size_t *ret_n, struct buf *names);

#endif
