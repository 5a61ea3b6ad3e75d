/*
 * How a task ends: the verdict over its main command's run, seen with Garth's own eyes when everything inside
 * is dead. Uncommitted changes fail the task unless its on_dirty says "keep"; so do commits that the gateway
 * refused (T2).
 */
#ifndef TASK_END_H
#define TASK_END_H

#include <stdbool.h>

#include "base/err.h"
#include "task/run.h"

/* In tasks/<id>: there are commits that could not be published; its content says why. */
#define TASK_UNPUBLISHED "unpublished"

/* Decides, tells the store, and gives the exit code for those who wait: the command's own, or 1 where it
 * succeeded and the task did not. */
int task_end(const struct task_run *r, int exit_code, bool cancelled, struct err *e);

#endif
