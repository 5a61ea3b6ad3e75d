/* A task's network for `garth show`: its mode and list, and which hosts it asked for. */
#ifndef CLI_SHOW_NETWORK_H
#define CLI_SHOW_NETWORK_H

#include <jansson.h>

#include "task/context.h"
#include "task/task.h"

void show_network(struct context *c, struct task_at *at);
/* Tells which hosts were refused to the task's last run and how to allow them; prints nothing if there are
 * none. */
void tell_refused(struct context *c, const struct task *t);
json_t *show_network_json(struct context *c, struct task_at *at);

#endif
