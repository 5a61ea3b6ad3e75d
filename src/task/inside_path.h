/*
 * Chooses the path of a task's workspace inside the jail. Overlay and clone workspaces are mounted at the
 * project's own absolute path, so that every path that a tool, a cache or an agent remembers is valid in
 * every task. If that path cannot be used, the workspace is at worktrees/<place> of the Garth home, as a
 * worktree is.
 */
#ifndef TASK_INSIDE_PATH_H
#define TASK_INSIDE_PATH_H

#include <stdbool.h>

#include "task/context.h"

/* Whether the workspace can be mounted at the project's path without covering what a task needs: the path is
 * not `/`, not the user's home or above it, and none of the paths that the system or Garth needs. */
bool inside_path_is_free(const struct context *c, const char *project);

/* The path for a new task, on the heap; place is the name of its directory. */
char *inside_path_of(const struct context *c, const char *project, const char *backend, const char *place);

#endif
