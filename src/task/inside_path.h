/*
 * Where a task's workspace is inside. Overlay and clone workspaces are mounted at the project's own absolute
 * path, so that every path that a tool, a cache or an agent remembers is right in every task. Where that path
 * cannot be used, the workspace is at worktrees/<task> of the Garth home, as a worktree is.
 */
#ifndef TASK_INSIDE_PATH_H
#define TASK_INSIDE_PATH_H

#include <stdbool.h>

#include "task/context.h"

/* Whether something can be mounted at the project's path without covering what a task needs: it is not `/`,
 * not the user's home, nothing above that, and no place of the system's or of Garth's own. */
bool inside_path_is_free(const struct context *c, const char *project);

/* For a new task, on the heap. */
char *inside_path_of(const struct context *c, const char *project, const char *backend, const char *task);

#endif
