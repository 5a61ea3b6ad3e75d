/*
 * What a task may reach on the network: chosen when a command is started in it, and added to while it runs.
 */
#ifndef RUNTIME_REACH_H
#define RUNTIME_REACH_H

#include "base/err.h"
#include "runtime/run.h"

/* The network for a command in a task: what the user asks for (mode may be NULL, hosts too), else what the task
 * was run with, else the configuration's. A running task keeps the network that it has. */
int runtime_network(struct context *c, struct task *t, const char *mode, const struct strvec *hosts,
	struct run_opts *o, struct err *e);
/* The network for a new task: network_choose, and the hosts that the user's variables name for the agent's
 * model. */
int runtime_choose_network(const struct context *c, const char *mode, const struct strvec *hosts,
	struct run_opts *o, struct err *e);

/* If the host is the user's own loopback, and the task runs, the jail listens on its ports now. Call it before
 * the host is put on the list (task/network.h): without that nothing gets through. */
int reach_forward(struct context *c, struct task *t, int dir, const char *host, struct err *e);
/* What a start would do for the agent o->agent, in a task that runs already: its log-in, and its hosts for as
 * long as the task runs. Does nothing without an agent. */
int reach_for_agent(struct context *c, struct task *t, const struct run_opts *o, struct err *e);

#endif
