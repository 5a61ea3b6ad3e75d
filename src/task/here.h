/*
 * Finds out which project or task a command means by the directory that it was started in. The directory may
 * have a repository that an agent planted, or that came in a tarball. So the place is determined by paths
 * alone first, and only then git is run.
 */
#ifndef TASK_HERE_H
#define TASK_HERE_H

#include <stdint.h>

#include "base/err.h"
#include "git/repo.h"
#include "task/context.h"

/* Opens the repository around dir, like repo_open. ERR_REFUSED if any part of it is in the Garth home, where
 * the workspaces are: it must be the user's own. */
int here_open(struct context *c, const char *dir, const char *rev, struct repo *ret, struct err *e);
/* The project of dir. In a workspace it is the task's project, whatever repositories are in there; else the
 * registered project around dir. 0: in no repository; HERE_UNKNOWN: in one that is not registered. Does not
 * run git. */
#define HERE_UNKNOWN (-1)
int here_project(struct context *c, const char *dir, int64_t *ret, struct err *e);

#endif
