/* The tickets of a task (plan/tickets.h), for people and as JSON. */
#ifndef CLI_SHOW_TICKETS_H
#define CLI_SHOW_TICKETS_H

#include <jansson.h>

#include "task/context.h"
#include "task/task.h"

/* A line for each; nothing if there are none. */
void show_tickets(struct context *c, const struct task *t);
/* A list, empty if there are none. */
json_t *show_tickets_json(struct context *c, const struct task *t);
/* Warns, before a merge, that some of them are not merged into their task. */
void show_tickets_open(struct context *c, struct task *t);

#endif
