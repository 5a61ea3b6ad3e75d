/*
 * The object directories that a repository borrows from (objects/info/alternates) are mounted into its tasks.
 * The file that names them came with the repository, so what it names must be what it says: an object store
 * of the user's, in no place of secrets.
 */
#ifndef TASK_BORROWED_H
#define TASK_BORROWED_H

#include "base/err.h"
#include "git/repo.h"
#include "task/context.h"

/* ERR_REFUSED, with the directory's name, for one that belongs neither to the user nor to root, has anything
 * in it but what object stores have, or may not be shown (check_allow_read, the Garth home). */
int borrowed_check(const struct context *c, const struct repo *r, struct err *e);

#endif
