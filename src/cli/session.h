/*
 * A command in a task, from the user's side: the task's keeper is joined where one runs and started where
 * none does.
 */
#ifndef CLI_SESSION_H
#define CLI_SESSION_H

#include <stdbool.h>

#include "base/err.h"
#include "base/strvec.h"
#include "cli/terminal.h"
#include "task/context.h"
#include "task/task.h"
#include "task/walls.h"

struct session_opts {
	struct walls_opts walls; /* its network is `net` */
	struct network net;
	const struct config_agent *agent;
	const struct strvec *env;
	const struct strvec *resume; /* of a task file; may be NULL */
	uint64_t timeout;            /* seconds; 0: none */
	const char *push;            /* the remote's branch for what it did, when it is done; NULL for none */
	const uint16_t *ports;       /* up to a 0; NULL for none */
	bool detach;
	bool quiet;
	bool net_asked; /* the network was named on the command line */
	bool set_aside; /* before it starts, ignored directories are set aside: workspace/aside.h */
};

/* Runs the task's main command to its end, or until it is detached from. {session} in its words is the id of
 * the task's first run. */
int session_run(struct context *c, struct task *t, const struct session_opts *o, char *const *argv,
	struct terminal_result *ret, struct err *e);
/* Lets a task that has ended go on: as it is resumed (task/again.h), with the user's answer, or NULL. */
int session_resume(struct context *c, struct task *t, const struct session_opts *o, const char *answer,
	struct terminal_result *ret, struct err *e);
/* Runs a command beside it, or in a stopped task. */
int session_exec(struct context *c, struct task *t, const struct session_opts *o, char *const *argv,
	struct terminal_result *ret, struct err *e);
/* A connection to the task's keeper, started without a command where none runs: it stays for as long as the
 * connection does. *ret_started: none ran, and (set_aside) ignored directories were set aside. */
int session_hold(
	struct context *c, struct task *t, bool set_aside, bool *ret_started, int *ret_conn, struct err *e);
/* Connects to the running task's main command. */
int session_attach(struct context *c, struct task *t, struct terminal_result *ret, struct err *e);
/* Opens a port of a running task's to the host's loopback. */
int session_port(struct context *c, struct task *t, uint16_t inside, uint16_t *ret, struct err *e);
/* Forwards a port of the host's loopback to a running task. ERR_NOTFOUND where it does not run. */
int session_forward(struct context *c, struct task *t, uint16_t port, struct err *e);
/* Ends the running task and waits for it. */
int session_cancel(struct context *c, struct task *t, struct err *e);

/* What the task's file says of the configuration, over the user's; before an agent is looked up in it. */
int session_configure(struct context *c, const struct task *t, struct err *e);
/* The network for a command in a task: what the command line asks for (mode may be NULL, hosts may be), else
 * what the task was run with, else the configuration's. In a running task it is what it is. */
int session_network(struct context *c, struct task *t, const char *mode, const struct strvec *hosts,
	struct session_opts *o, struct err *e);
/* The network for a new task: network_choose, and where the user's variables say that the agent's model is.
 */
int session_choose_network(const struct context *c, const char *mode, const struct strvec *hosts,
	struct session_opts *o, struct err *e);

/* report.c: tells a person at the terminal how it ended, and what to do next. */
void session_report(struct context *c, const char *name, const struct terminal_result *r, bool quiet);

#endif
