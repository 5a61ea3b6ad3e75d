/*
 * Describes the jail of a task as plain data (jail/jail.h), from the lists of what is shown (walls_shown.c)
 * and from the task's own paths.
 */
#ifndef TASK_WALLS_H
#define TASK_WALLS_H

#include <stdbool.h>

#include "base/err.h"
#include "base/strvec.h"
#include "config/config.h"
#include "jail/jail.h"
#include "jail/order.h"
#include "task/also.h"
#include "task/context.h"
#include "task/network.h"
#include "task/task.h"

struct walls_opts {
	const struct network *net;
	/* Receives a line for what is configured and cannot be had, with the reason: each path of
	 * jail.allow_read that is not shown, limits.max_core. May be NULL. */
	struct strvec *not_shown;
	/* "/etc/DIR/NAME=TEXT": added to agents' files (walls_told.h); may be NULL. */
	const struct strvec *told;
	/* A certificate authority of the task's own: its text, and the name of a file in the task's directory with it
	 * and all others (agent/outside.h). NULL: none. */
	const char *authority, *certificates;
	const struct also *also; /* what the command needs beside what every task has; NULL: nothing */
	const struct config_agent *agent; /* the agent that is run; NULL: none */
	bool no_gateway;                  /* the gateway cannot be asked from inside */
	bool allow_weaker;                /* run even if the kernel lacks Landlock or a private /proc */
};

int walls_describe(
	struct context *c, struct task_at *at, const struct walls_opts *o, struct jail *ret, struct err *e);

/* Makes what the description names in the task's directory: the layers of caches, the file for
 * /etc/machine-id. Before each start; idempotent. What cannot be made is taken out of the description, so
 * that a task starts on a full disk too. */
void walls_make_files(struct jail *j, int task_dir);

/* ERR_REFUSED if a jail by Landlock only cannot have this network. */
int walls_check_landlock_only(const struct network *n, struct err *e);

/* Describes a command to run inside: its environment is built from the allow-list (agent may be NULL), its
 * directory is the workspace. session is the run's id. argv is copied. */
int walls_command(struct context *c, const struct task *t, const struct config_agent *agent,
	const struct network *net, const char *session, const struct strvec *extra_env, char *const *argv,
	struct order_cmd *ret, struct err *e);
/* Lets it start in a directory below the workspace, a relative path; NULL or "": in the workspace itself. The
 * directory is entered inside: whatever the agent made of it, the path leads nowhere on the host. */
void walls_enter(struct order_cmd *cmd, const struct task *t, const char *cwd);

#endif
