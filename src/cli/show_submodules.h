/* `garth show`: which submodules a task may use, and which are empty directories in it. */
#ifndef CLI_SHOW_SUBMODULES_H
#define CLI_SHOW_SUBMODULES_H

#include <jansson.h>

#include "task/task.h"

/* A line for each, on stdout; nothing if the task has none. */
void show_submodules(const struct task_at *at);
/* Warns of submodules that a new task may use but that could not be made. */
void show_submodules_missing(const struct context *c, const struct task *t);
/* An array, empty if the task has none. */
json_t *show_submodules_json(const struct task_at *at);

#endif
