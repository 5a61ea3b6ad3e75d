/* Which tasks use which layers (workspace/layer.h), and the removal of those that none uses. */
#ifndef TASK_LAYERS_H
#define TASK_LAYERS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/strvec.h"
#include "store/store.h"
#include "task/context.h"

/* The layers that tasks name, those in the trash included: an undo brings them back. If `layer` is not NULL,
 * only the directories ("tasks/7", "trash/3") of the tasks that use this one. */
int layers_used(const struct context *c, const char *layer, struct strvec *ret, struct err *e);

/* Removes layers of a project that nobody uses; the newest set-up layer stays unless `all` is set. With
 * `later`, in the background. */
int layers_remove_unused(struct context *c, int64_t project, bool all, bool later, struct err *e);

/* Removes the tasks of set-ups whose processes were killed. */
int layers_drop_setups(struct context *c, struct err *e);

/* A line for each layer of a task that is missing, for people. */
void layers_missing(const struct context *c, const struct task *t, int task_dir, struct strvec *ret);

#endif
