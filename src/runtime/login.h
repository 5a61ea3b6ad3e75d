/* The agent's log-in comes into the task's home before the agent runs. */
#ifndef RUNTIME_LOGIN_H
#define RUNTIME_LOGIN_H

#include "base/err.h"
#include "runtime/run.h"
#include "task/context.h"
#include "task/task.h"

/* Copies it (agent/agent.h), and tells what could not be copied and what is about to end. Does nothing
 * without an agent. */
int login_bring(struct context *c, struct task_at *at, const struct run_opts *o, struct err *e);

#endif
