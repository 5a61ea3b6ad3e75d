/*
 * The walls of a task: its jail described, from the lists of what is shown (data) and the task's own places.
 */
#ifndef TASK_WALLS_H
#define TASK_WALLS_H

#include <stdbool.h>

#include "base/err.h"
#include "base/strvec.h"
#include "config/config.h"
#include "jail/jail.h"
#include "jail/order.h"
#include "task/context.h"
#include "task/network.h"
#include "task/task.h"

struct walls_opts {
	const struct network *net;
	/* What of jail.allow_read is not shown, a line each with where it is written and why; may be NULL. */
	struct strvec *not_shown;
	bool allow_weaker; /* run even where the kernel lacks Landlock or a /proc of its own */
};

int walls_describe(
	struct context *c, struct task_at *at, const struct walls_opts *o, struct jail *ret, struct err *e);

/* Whether a task on Landlock alone can have that network; ERR_REFUSED. */
int walls_check_landlock_only(const struct network *n, struct err *e);

/* A command for the inside: its environment is built from the allow-list (agent may be NULL), its directory
 * is the workspace. session is the run's id. argv is copied. */
int walls_command(struct context *c, const struct task *t, const struct config_agent *agent,
	const struct network *net, const char *session, const struct strvec *extra_env, char *const *argv,
	struct order_cmd *ret, struct err *e);

#endif
