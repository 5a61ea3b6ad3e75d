/*
 * The project's own cache of package managers (workspace/cache_layer.h, jail.caches: project): which tasks use its
 * layers, and what is added to it. Only set-ups add to it, and tasks that the user names.
 *
 * The file tasks/<id>/cache-layers has the layers that the task used when it was last started. They are in use as
 * long as the task's lock is held.
 *
 * What a set-up writes to the other caches (jail.caches: task) is a part of its layer (workspace/layer.h): the tasks
 * that have its files have that too, and nobody else.
 */
#ifndef TASK_PROJECT_CACHE_H
#define TASK_PROJECT_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/strvec.h"
#include "store/store.h"
#include "task/context.h"
#include "workspace/layer.h"

/* Whether the task has a project's cache: the configuration says so, and its backend can mount one. */
bool project_cache_is_on(const struct context *c, const struct task *t);

/* Notes which layers the task uses from now on. Before its jail is described; the caller holds the task's lock. If
 * that fails, on a full disk for example, the task has none of them. */
void project_cache_note(const struct context *c, const struct task *t, int task_dir);
/* The layers of a task, the top one first: those that were noted if its lock is held, else those that it would get. */
int project_cache_layers(
	const struct context *c, const struct task *t, int task_dir, struct strvec *ret, struct err *e);
/* Adds the layers that a task uses now to *ret. */
int project_cache_in_use(int task_dir, struct strvec *ret, struct err *e);

struct project_cache_added {
	size_t files;
	uint64_t bytes;
	struct strvec left_out; /* what cannot be in a layer */
};
/* Adds what a task wrote to its caches, as a new layer on top. The caller holds the task's lock. With `move`, the
 * task is removed afterwards; otherwise it keeps what it has. */
int project_cache_add(struct context *c, const struct task *t, int task_dir, bool move,
	struct project_cache_added *ret, struct err *e);

/* Moves what a set-up wrote to caches that are not the project's into the layer that is made of it. What cannot be
 * there is added to *left_out. After an error, the layer has nothing of it. */
int project_cache_fill_setup(const struct context *c, const struct task *t, int task_dir,
	struct layer_part *l, struct strvec *left_out, struct err *e);
/* The set-up layers of a task, as far as they are complete. */
void project_cache_setups(const struct context *c, const struct task *t, int task_dir, struct strvec *ret);

/* Empties the chain if nobody uses it. Otherwise, its layers are added to *ret_kept. The caller holds the chain's
 * lock. */
int project_cache_forget(const struct context *c, int64_t project, struct strvec *ret_kept, struct err *e);

#endif
