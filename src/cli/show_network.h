/* A task's network, as `garth show` tells it: how it may be reached, and what was asked for. */
#ifndef CLI_SHOW_NETWORK_H
#define CLI_SHOW_NETWORK_H

#include <jansson.h>

#include "task/context.h"
#include "task/task.h"

void show_network(struct context *c, struct task_at *at);
/* Tells which hosts were refused to the task's last run, and how they are allowed; nothing where none was. */
void tell_refused(struct context *c, const struct task *t);
json_t *show_network_json(struct context *c, struct task_at *at);

#endif
