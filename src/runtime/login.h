/* Copies the agent's log-in into the task's home before the agent runs. */
#ifndef RUNTIME_LOGIN_H
#define RUNTIME_LOGIN_H

#include "agent/outside.h"
#include "base/err.h"
#include "runtime/run.h"
#include "task/context.h"
#include "task/task.h"

/* Copies it (agent/agent.h), and warns about files that could not be copied and log-ins that expire soon.
 * Does nothing without an agent. */
int login_copy(struct context *c, struct task_at *at, const struct run_opts *o, const struct outside *out,
	struct err *e);

/* Finds what of the agent's log-in stays outside (agent/outside.h). Without an agent, nothing does. `joins`: the task
 * runs already. */
int login_open(struct context *c, const struct task *t, const struct run_opts *o, bool joins,
	struct outside *ret, struct err *e);
/* Writes down for `garth show` how the agent has its log-in, and tells the user what does not work. */
void login_note(int task_dir, const struct run_opts *o, const struct outside *out);
/* Before a task is resumed: refuses if the agent had a key from a variable, and now has no log-in at all. Keys are never kept,
 * so the one who resumes must have them. */
int login_still_there(
	struct context *c, const struct task *t, int task_dir, const struct run_opts *o, struct err *e);
/* A file in memory with the table for the proxy's process; -1 if nothing stays outside. */
int login_table(const struct outside *out);

#endif
