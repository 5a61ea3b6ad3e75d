/*
 * Tasks without a repository (T5): an empty workspace, the same walls. Underneath there is one all the same,
 * so that looking, exporting, discarding and taking back work as for any task: $GARTH_HOME/empty, with one
 * commit that has no files. Inside nothing of it is seen.
 */
#ifndef TASK_EMPTY_H
#define TASK_EMPTY_H

#include "base/err.h"
#include "task/context.h"

/* The place of that repository, made where it is not there, on the heap. */
int empty_repository(struct context *c, char **ret, struct err *e);

/* ERR_REFUSED, in words, where the task has no repository: for what makes no sense without one. */
int empty_refuse(const struct task *t, struct err *e);

#endif
