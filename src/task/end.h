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

/* An empty file in tasks/<id> from when the gateway begins to publish a task's last commits until it has:
 * where it is found afterwards, they were refused, or the gateway died. */
#define TASK_UNPUBLISHED "unpublished"
void task_end_begin(const struct task_run *r);

/* In the note of one whose time was up. */
#define TASK_TIME_UP "stopped when its time was up"

/* What is to be done with a task that has succeeded, before it is told to be done: 0, 1 where it may be
 * merged by that, or -1 where it fails of it. */
struct task_then {
	int (*fn)(struct context *c, struct task *t, const char *arg, struct err *e);
	const char *arg;
};

/* `then` may be NULL. `also` is one more thing to be known of it, or "". Decides, tells the store, and gives
 * the exit code for those who wait: the command's own; where it succeeded and the task did not, 1, or 6 where
 * it asks (question.h), whatever lies around uncommitted. */
int task_end(const struct task_run *r, int exit_code, enum run_end how, const char *also,
	const struct task_then *then, struct err *e);

#endif
