/* How a task's agent gets its log-in, for `garth show`. */
#ifndef CLI_SHOW_CREDENTIALS_H
#define CLI_SHOW_CREDENTIALS_H

#include <jansson.h>

#include "task/task.h"

/* Prints nothing if no agent was run. */
void show_credentials(const struct task_at *at);
/* null if no agent was run. */
json_t *show_credentials_json(const struct task_at *at);

#endif
