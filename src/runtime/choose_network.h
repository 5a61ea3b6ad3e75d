/*
 * What a task may reach on the network: chosen when a command is started in it, extended while it runs.
 */
#ifndef RUNTIME_CHOOSE_NETWORK_H
#define RUNTIME_CHOOSE_NETWORK_H

#include "base/err.h"
#include "runtime/run.h"

/* The network for a command in a task: what the user asks for (mode and hosts may be NULL), else what the
 * task was run with, else the configuration's. A running task keeps its network. */
int runtime_network(struct context *c, struct task *t, const char *mode, const struct strvec *hosts,
	struct run_opts *o, struct err *e);
/* The network for a new task: network_choose, plus the model hosts that the user's environment variables
 * name. */
int runtime_choose_network(const struct context *c, const char *mode, const struct strvec *hosts,
	struct run_opts *o, struct err *e);

/* For a jail by Landlock alone: ERR_REFUSED if it cannot have this network; an empty list becomes `none`. */
int runtime_network_landlock_only(struct run_opts *o, struct err *e);

/* If the host is the user's loopback and the task runs, makes the jail listen on its ports now. Call it
 * before the host is added to the list (task/network.h): without an entry nothing is let through. */
int reach_forward(struct context *c, struct task *t, int dir, const char *host, struct err *e);
/* For an agent (o->agent) in a task that runs already: copies its log-in, tells the keeper (conn) what of it stays
 * outside, and adds its hosts for as long as the task runs. Does nothing without an agent. */
int reach_for_agent(struct context *c, struct task *t, const struct run_opts *o, int conn, struct err *e);

#endif
