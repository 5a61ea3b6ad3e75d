/*
 * Chooses where in a workspace a command starts: in the directory that is the same as the user's current one, or
 * in the one that the user named. The results are paths relative to the workspace; "" is its top directory.
 * Nothing of a workspace is opened here: the path is entered inside, by walls_enter.
 */
#ifndef TASK_DIRECTORY_H
#define TASK_DIRECTORY_H

#include <stdbool.h>

#include "base/err.h"
#include "git/repo.h"
#include "store/store.h"
#include "task/context.h"

/* For a new task of r->commit, asked for in the directory `here`. `named` is the user's choice, relative to
 * `here` or absolute, or NULL. ERR_USAGE if that leads out of the project; ERR_NOTFOUND if the commit has no such
 * directory, unless `uncommitted` and the checkout has it. Without `named`, *ret_missing gets the current
 * directory's path if the commit does not have it; the result is then "". */
struct directory_choice {
	const char *here, *named;
	bool uncommitted;
};
int directory_choose(const struct repo *r, const struct directory_choice *d, char **ret, char **ret_missing,
	struct err *e);

/* For a command in an existing task: the user's current directory, if it is in a checkout of the task's project
 * or in the task's own workspace. Else "". On the heap. */
char *directory_of_task(struct context *c, const struct task *t);

/* Resolves "." and ".." in an absolute path as text. On the heap. */
char *directory_clean(const char *path);

#endif
