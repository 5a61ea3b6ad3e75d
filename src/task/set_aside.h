/* Settles the ignored directories that a rollback sets aside (workspace/aside.h), with what the store knows
 * about the rollback. */
#ifndef TASK_SET_ASIDE_H
#define TASK_SET_ASIDE_H

#include "base/err.h"
#include "base/strvec.h"
#include "task/context.h"
#include "task/task.h"

/* The caller holds the task's lock, and nothing of the task is mounted. Fast if nothing is set aside. */
int set_aside_settle(struct context *c, struct task_at *at, struct strvec *stuck, struct err *e);
/* The same for callers that have neither opened the task nor taken its lock. ERR_BUSY if it is in use. */
int set_aside_settle_task(struct context *c, struct task *t, struct strvec *stuck, struct err *e);

#endif
