/*
 * Paths of the host that one command needs and that not every task is shown: the package of an agent's program that is
 * installed elsewhere, the user's set-up of the agent (instructions, skills), and files that its arguments name. All are
 * shown read-only, at their own paths. A path is left out if it holds keys or log-ins, is in the Garth home or the
 * project, or is denied by jail.deny_read.
 *
 *	auto_also also = { 0 };
 *	also_program(c, repo, argv[0], &also, e);        package.c
 *	also_settings(c, repo, agent, env, &also);       also_settings.c
 *	also_arguments(c, repo, argv, &also);
 *	walls.also = &also;
 */
#ifndef TASK_ALSO_H
#define TASK_ALSO_H

#include <stdbool.h>
#include <stddef.h>

#include "agent/agent.h"
#include "base/err.h"
#include "base/strvec.h"
#include "config/config.h"
#include "git/repo.h"
#include "task/context.h"

struct also_row {
	char *path;   /* where it is inside */
	char *source; /* the host's file or directory, without links; for a link, what it leads to */
	bool link;
};

struct also {
	struct also_row *v;
	size_t n;
	struct strvec notes; /* a sentence for each path that was named and cannot be shown */
};

void also_release(struct also *a);
#define auto_also __attribute__((cleanup(also_release))) struct also

/* The maximum number of rows: a jail has room for more, but nobody needs them. */
#define ALSO_MAX 256

/* Why a path of the host must not be shown ("holds keys or log-ins"), or NULL. `real` has no links. */
const char *also_refusal(const struct context *c, const char *real);
/* Adds a path, with the rules above; `real` is where it leads. Nothing is added if a task has it already. */
void also_add(
	const struct context *c, const struct repo *r, const char *path, const char *real, struct also *ret);
void also_add_link(const char *path, const char *to, struct also *ret);
/* Whether the path is in the project, or leads through the project: anybody may have made the links there. r may be
 * NULL. */
bool also_is_projects(const struct repo *r, const char *path);
/* Whether the path is shown to every task or by one of the rows. Links are not followed. */
bool also_has(const struct context *c, const struct also *a, const char *path);

/* Shows the program that a name (or an absolute path) stands for outside, with the package that it belongs to and its
 * interpreter. Nothing is added if every task has it. ERR_PROGRAM if it cannot be shown, with the line of
 * configuration that does; ERR_NOTFOUND if there is no such program. */
int also_program(
	const struct context *c, const struct repo *r, const char *program, struct also *ret, struct err *e);

/* Shows what the agent's `settings` names, and the scripts that hooks in its settings run. */
void also_settings(const struct context *c, const struct repo *r, const struct config_agent *a,
	const struct agent_env *env, struct also *ret);

/* Shows files that arguments name (FILE, --option=FILE): absolute ones, and those that lead out of the project from
 * `cwd`, the user's directory, without links, if that is in the project. A directory is only noted. */
void also_arguments(
	const struct context *c, const struct repo *r, const char *cwd, char *const *argv, struct also *ret);

#endif
