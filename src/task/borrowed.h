/*
 * Checks the object directories that a repository borrows from (objects/info/alternates), which are mounted
 * into its tasks. The file that names them came with the repository, so a hostile one could name the user's
 * secrets: each directory must really be an object store of the user.
 */
#ifndef TASK_BORROWED_H
#define TASK_BORROWED_H

#include "base/err.h"
#include "git/repo.h"
#include "task/context.h"
#include "workspace/workspace.h"

/* ERR_REFUSED, with the directory's name, if one belongs neither to the user nor to root, has anything in it
 * that object stores do not have, or may not be shown (check_allow_read, the Garth home). */
int borrowed_check(const struct context *c, const struct repo *r, struct err *e);

/* The same for the repositories of a task's submodules, whose object directories are mounted too. */
int borrowed_check_submodules(const struct context *c, const struct workspace *ws, struct err *e);

#endif
