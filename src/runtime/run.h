/*
 * Running commands in a task: what every front end calls. The task's keeper is joined if one runs, and started
 * if none does. Each function gives a connection to it (keeper/wire.h), which the front end joins with its
 * terminal or reads to the end.
 *
 *	struct run_opts o = { .warnings = &warnings, … };
 *	runtime_network(c, t, NULL, NULL, &o, e);        reach.h: what it may reach
 *	runtime_run(c, t, &o, argv, &conn, e);           or _resume, _exec, _wait
 *	…                                                print the warnings, speak on conn, close it
 */
#ifndef RUNTIME_RUN_H
#define RUNTIME_RUN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/strvec.h"
#include "task/context.h"
#include "task/network.h"
#include "task/task.h"
#include "task/walls.h"

/* How long a keeper that is leaving or arriving is waited for. */
#define RUNTIME_KEEPER_MS 10000

struct run_opts {
	struct walls_opts walls; /* its network is `net` */
	struct network net;
	bool net_asked; /* the network was named by the user */
	const struct config_agent *agent;
	const struct strvec *env;
	const struct strvec *resume; /* of a task file; may be NULL */
	uint64_t timeout;            /* seconds; 0: none */
	const char *push;            /* the remote's branch for what it did, when it is done; NULL for none */
	const uint16_t *ports;       /* up to a 0; NULL for none */
	bool tty;                    /* the command gets a terminal, of this size */
	uint16_t rows, cols;
	bool detach;    /* nobody sits at that terminal */
	bool quiet;     /* no warning about the agent's log-in */
	bool set_aside; /* before the keeper starts, ignored directories are set aside: workspace/aside.h */
	struct strvec *warnings; /* gets what the user should know, a sentence each; may be NULL */
};

void runtime_warn(const struct run_opts *o, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Starts the task's main command. {session} in its words is the id of the task's first run. The connection is
 * attached to it. */
int runtime_run(struct context *c, struct task *t, const struct run_opts *o, char *const *argv, int *ret_conn,
	struct err *e);
/* Resumes a task that has ended (task/again.h), with the user's answer, or NULL. On success *o gets the network
 * and the ports that it is resumed with; the caller frees both. Errors name the task. */
int runtime_resume(struct context *c, struct task *t, struct run_opts *o, const char *answer, int *ret_conn,
	struct err *e);

/* A command beside the main one, or in a stopped task. It is packed once; then runtime_exec sends it to a
 * keeper. 1: a keeper was leaving or arriving, try again. A connection that ends before its first frame means
 * the same. */
int runtime_pack(struct context *c, struct task *t, const struct run_opts *o, char *const *argv,
	struct buf *ret, struct err *e);
int runtime_exec(struct context *c, struct task *t, const struct run_opts *o, const struct buf *packed,
	int *ret_conn, struct err *e);
/* The same without a terminal, waited for: its output is thrown away. */
int runtime_wait(struct context *c, struct task *t, const struct run_opts *o, char *const *argv,
	int *ret_code, struct err *e);

/* A connection to the task's keeper, which is started without a command if none runs: it stays for as long as
 * the connection does. *ret_started: none ran, and (set_aside) ignored directories were set aside. */
int runtime_hold(
	struct context *c, struct task *t, bool set_aside, bool *ret_started, int *ret_conn, struct err *e);

/* What the task's file says of the configuration, over the user's. Before an agent is looked up in it. */
int runtime_configure(struct context *c, const struct task *t, struct err *e);

#endif
