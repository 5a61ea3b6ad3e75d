/*
 * What a command means by the directory that it is started in. An agent may have planted a repository there,
 * or it may have come as a tarball: first it is found out where we are, by paths alone, and only then git is
 * asked.
 */
#ifndef TASK_HERE_H
#define TASK_HERE_H

#include <stdint.h>

#include "base/err.h"
#include "git/repo.h"
#include "task/context.h"

/* Opens the repository around dir, which must be the user's own: ERR_REFUSED where any part of it is in the
 * Garth home, as the workspaces are. Else as repo_open. */
int here_open(const struct context *c, const char *dir, const char *rev, struct repo *ret, struct err *e);
/* The project that dir belongs to: in a workspace its task's, whatever repositories are in there; else the
 * registered one that has it. 0: in no repository; HERE_UNKNOWN: in one that is not registered. No git is
 * started. */
#define HERE_UNKNOWN (-1)
int here_project(struct context *c, const char *dir, int64_t *ret, struct err *e);

#endif
