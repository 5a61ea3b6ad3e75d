/* The agent's log-in comes into the task's home before the agent runs. */
#ifndef CLI_LOGIN_H
#define CLI_LOGIN_H

#include "base/err.h"
#include "cli/session.h"
#include "task/context.h"
#include "task/task.h"

/* Copies it (agent/agent.h), and tells what could not be copied and what is about to end. Nothing without an
 * agent. */
int login_bring(struct context *c, struct task_at *at, const struct session_opts *o, struct err *e);

#endif
