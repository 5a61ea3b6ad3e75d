/* Copies the agent's log-in into the task's home before the agent runs. */
#ifndef RUNTIME_LOGIN_H
#define RUNTIME_LOGIN_H

#include "base/err.h"
#include "runtime/run.h"
#include "task/context.h"
#include "task/task.h"

/* Copies it (agent/agent.h), and warns about files that could not be copied and log-ins that expire soon.
 * Does nothing without an agent. */
int login_copy(struct context *c, struct task_at *at, const struct run_opts *o, struct err *e);

#endif
