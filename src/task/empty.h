/*
 * Tasks without a repository (T5): an empty workspace in the same jail. They use a hidden repository,
 * $GARTH_HOME/empty, whose one commit has no files, so that diff, export, discard and undo work as for any
 * task. Inside, the task sees nothing of it.
 */
#ifndef TASK_EMPTY_H
#define TASK_EMPTY_H

#include "base/err.h"
#include "task/context.h"

/* The path of that repository, on the heap. Makes it if it is missing. */
int empty_repository(struct context *c, char **ret, struct err *e);

/* ERR_REFUSED, with a message, if the task has no repository: for commands that need one. */
int empty_refuse(const struct task *t, struct err *e);

#endif
