/*
 * The repository's layer of the configuration (config/config.h): the file .garth.yaml at the top of the commit that
 * a task starts from. It is read from the commit, never from a workspace or a checkout, which an agent or an
 * uncommitted experiment may have changed.
 *
 * A task keeps a copy of the text in its directory (REPOSITORY_CONFIG), so that its rules stay the same whatever
 * happens to the branch, and no process needs git to know them. own_config_apply applies it.
 */
#ifndef TASK_REPOSITORY_CONFIG_H
#define TASK_REPOSITORY_CONFIG_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/err.h"
#include "config/config.h"
#include "git/repo.h"
#include "task/context.h"

/* In the task's directory. */
#define REPOSITORY_CONFIG "repository.yaml"

/* Reads the file of a commit into text (for at least REPO_SETTINGS_MAX bytes) and applies it to c. *ret_there:
 * whether there is one. */
int repository_config_apply(const struct repo *r, const char *commit, struct config *c, bool *ret_there,
	struct buf *text, struct err *e);
/* The configuration for new tasks in the repository around a directory, at a revision: the user's, and the
 * repository's layer over it. */
int repository_config_load(struct context *c, const struct repo *r, struct config *ret, bool *ret_there,
	struct buf *text, struct err *e);

#endif
