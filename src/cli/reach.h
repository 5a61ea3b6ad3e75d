/* A running task is given what it did not have when it was started: a host, or what an agent needs. */
#ifndef CLI_REACH_H
#define CLI_REACH_H

#include "base/err.h"
#include "cli/session.h"
#include "task/context.h"
#include "task/task.h"

/* If the host is the user's own loopback, and the task runs, the jail listens on its ports now; before the
 * host is put on the list (task/network.h), without which nothing gets through. */
int reach_forward(struct context *c, struct task *t, int dir, const char *host, struct err *e);
/* What a start would do for the agent o->agent, in a task that runs already: its log-in, and its hosts for as
 * long as the task runs. Nothing without an agent. */
int reach_for_agent(struct context *c, struct task *t, const struct session_opts *o, struct err *e);

#endif
