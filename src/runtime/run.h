/*
 * Runs commands in a task; every front end calls this. If the task's keeper runs, it is used; if not, it is
 * started. Each function returns a connection to it (keeper/wire.h), which the front end connects to its
 * terminal or reads to the end, and closes. All functions block.
 *
 *	struct run_opts o = { .warnings = &warnings, … };
 *	runtime_network(c, t, NULL, NULL, &o, e);        choose_network.h: what it may reach
 *	runtime_run(c, t, &o, argv, &conn, e);           or _resume, _exec, _wait
 *	…                                                print the warnings, use conn, close it
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

/* How long to wait for a keeper that is leaving or starting. */
#define RUNTIME_KEEPER_MS 10000

struct run_opts {
	struct walls_opts walls; /* its network is `net` */
	struct network net;
	bool net_asked; /* the user named the network */
	const struct config_agent *agent;
	const struct strvec *env;
	const struct strvec *resume; /* a task file's resume command; may be NULL */
	uint64_t timeout;            /* seconds; 0: none */
	const char *push;            /* the remote's branch to push to after success; NULL: none */
	const uint16_t *ports;       /* ended by 0; NULL: none */
	bool piped;                  /* it never gets a terminal */
	bool person;                 /* a person talks to it, though not over a terminal */
	bool tied;                   /* it ends with the client that started it: nobody else can talk to it */
	bool screen;      /* an agent comes back on its own screen, whatever the command's first word is */
	bool own_session; /* a second agent in the workspace: it gets a session of its own */
	bool tty;         /* the command gets a terminal of this size */
	uint16_t rows, cols;
	bool detach;             /* no terminal outside */
	const char *detach_keys; /* for the front end: what the user asked for; NULL: as configured */
	bool quiet;              /* no warning about the agent's log-in */
	bool set_aside;       /* set ignored directories aside before the keeper starts: workspace/aside.h */
	const char *cwd;      /* where the command starts, relative to the workspace; NULL: at its top */
	bool literal;         /* of the main command: {session} in its words is no placeholder */
	const char *tip;      /* the task's branch must be at this commit; NULL: anywhere */
	const char *consumes; /* a file beneath the task's directory, removed when the command has started */
	char *const *
		argv; /* a command that is no main command; what its agent needs is shown if a keeper starts */
	struct strvec *warnings; /* gets warnings for the user, one sentence each; may be NULL */
};

void runtime_warn(const struct run_opts *o, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Starts the task's main command and attaches the connection to it. "{session}" in its arguments becomes the
 * id of the task's first run. */
int runtime_run(struct context *c, struct task *t, const struct run_opts *o, char *const *argv, int *ret_conn,
	struct err *e);
/* The id of the task's first run, also before it, for a command that is made with it. */
int runtime_session(struct context *c, const struct task *t, char out[37], struct err *e);
/* Resumes a task that has ended (task/task_command.h), with the user's answer, or NULL. o->env is for this run, beside
 * the variables that the first one had. On success *o gets the network
 * and the ports that it is resumed with; the caller frees both. Errors name the task. */
int runtime_resume(struct context *c, struct task *t, struct run_opts *o, const char *answer, int *ret_conn,
	struct err *e);

/* Whether runtime_resume could give the task a prompt now. ERR_REFUSED if it runs, or has run nothing yet.
 * *ret_takes: its command has a place for a prompt; if not, it finds it in GARTH_ANSWER. */
int runtime_can_prompt(struct context *c, const struct task *t, bool *ret_takes, struct err *e);

/* Runs a command beside the main one, or in a stopped task: pack it once, then runtime_exec sends it to a
 * keeper. 1: a keeper was leaving or starting; try again. Try again too if the connection ends before its
 * first frame. */
int runtime_pack(struct context *c, struct task *t, const struct run_opts *o, char *const *argv,
	struct buf *ret, struct err *e);
int runtime_exec(struct context *c, struct task *t, const struct run_opts *o, const struct buf *packed,
	int *ret_conn, struct err *e);
/* The same without a terminal: waits for its end and throws its output away. */
int runtime_wait(struct context *c, struct task *t, const struct run_opts *o, char *const *argv,
	int *ret_code, struct err *e);

/* The same, but what it prints is passed to fn (may be NULL); fd is 1 or 2. o->timeout is for both. */
typedef void runtime_output_fn(int fd, const char *data, size_t len, void *arg);
int runtime_wait_output(struct context *c, struct task *t, const struct run_opts *o, char *const *argv,
	runtime_output_fn *fn, void *arg, int *ret_code, struct err *e);

/* Returns a connection to the task's keeper, which is started without a command if none runs and stays as
 * long as the connection. *ret_started: it was started and, with set_aside, ignored directories were set
 * aside. */
int runtime_hold(
	struct context *c, struct task *t, bool set_aside, bool *ret_started, int *ret_conn, struct err *e);

/* Adds the task's own layers to the user's configuration: the repository's file and the task file. Those of another
 * task are dropped first, with all pointers into the configuration. Call it before looking up an agent. */
int runtime_configure(struct context *c, const struct task *t, struct err *e);
/* The same for a task that was just made, if the task file was applied already: reads all layers again, in their
 * order. Pointers into the configuration (agents) are not valid any more. *ret_changed is false if the task's
 * repository has no file: then nothing was done. */
int runtime_reconfigure(struct context *c, const struct task *t, bool *ret_changed, struct err *e);

#endif
