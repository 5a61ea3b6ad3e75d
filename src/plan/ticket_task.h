/*
 * What the task of a ticket has of the task that asked: its walls, layers of configuration, hosts, submodules and variables.
 * The throw-away task of its checks has the same. For stages of a plan nothing is done but
 * what the plan says.
 */
#ifndef PLAN_TICKET_TASK_H
#define PLAN_TICKET_TASK_H

#include "plan/job.h"
#include "runtime/run.h"
#include "task/task.h"

/* Before the task is made. The spec points into *ret_parent, which the caller releases after task_create, as it does with
 * spec->submodules. */
int ticket_task_spec(
	const struct stage_job *j, struct task *ret_parent, struct task_spec *spec, struct err *e);
/* After it was made, and before anything runs in it. */
int ticket_task_layers(const struct stage_job *j, int dir, struct err *e);
/* What it may reach: what the task that asked may, and for an agent (o->agent) the model. */
int ticket_task_network(const struct stage_job *j, struct run_opts *o, struct err *e);
/* Whether it has no network: the set-up of a commit that agents made has none either then. */
bool ticket_task_offline(const struct stage_job *j);
/* The variables and options with which the task that asked was run. */
int ticket_task_options(const struct stage_job *j, struct run_opts *o, struct strvec *env, struct err *e);

/* What is left of a ticket's time, which all of its runs have together. ERR_REFUSED if that is nothing. */
int ticket_task_time(
	struct context *c, const struct task *child, uint64_t seconds, uint64_t *ret, struct err *e);

#endif
