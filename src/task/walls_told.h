/* Files inside that tell agents about their task, each in its own way: agents.NAME.files of the configuration. All
 * agents' files are there, since an agent may start another, and an editor may start any. */
#ifndef TASK_WALLS_TOLD_H
#define TASK_WALLS_TOLD_H

#include "jail/jail.h"
#include "task/walls.h"
#include "task/task.h"

/* Adds them to the description, and the brief itself as INSIDE_BRIEF. Files of the task home are only made for the agent
 * that is run. What o->told has for a file is added to it: to a JSON file member by member, else at its beginning. */
int walls_told(
	struct context *c, struct task_at *at, const struct walls_opts *o, struct jail *j, struct err *e);

#endif
