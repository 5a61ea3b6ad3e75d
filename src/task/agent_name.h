/* The name of a task's agent: the one that it was run with (task_command.h), else the one that it was created for
 * (tasks/<id>/agent). */
#ifndef TASK_AGENT_NAME_H
#define TASK_AGENT_NAME_H

#include "base/err.h"

/* On the heap; NULL if there is none. */
char *agent_name_load(int task_dir);
/* For a task that has not run yet. */
int agent_name_save(int task_dir, const char *name, struct err *e);

#endif
