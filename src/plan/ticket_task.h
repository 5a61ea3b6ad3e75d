/*
 * What the task of a ticket gets from the task that asked for it: walls, layers of configuration, hosts, submodules and
 * variables. The throw-away task of the ticket's checks gets the same. For a stage of a plan, these functions only do what the
 * plan says.
 */
#ifndef PLAN_TICKET_TASK_H
#define PLAN_TICKET_TASK_H

#include "plan/job.h"
#include "runtime/run.h"
#include "task/task.h"

/* Call it before the task is made. The spec points into *ret_parent; the caller releases that and spec->submodules after
 * task_create. */
int ticket_task_spec(
	const struct stage_job *j, struct task *ret_parent, struct task_spec *spec, struct err *e);
/* Call it after the task is made, before anything runs in it. */
int ticket_task_layers(const struct stage_job *j, int dir, struct err *e);
/* The network: the hosts of the task that asked, and for an agent (o->agent) those of its model. */
int ticket_task_network(const struct stage_job *j, struct run_opts *o, struct err *e);
/* Whether it has no network: the set-up of a commit that agents made has none either then. */
bool ticket_task_offline(const struct stage_job *j);
/* The variables and options with which the task that asked was run. */
int ticket_task_options(const struct stage_job *j, struct run_opts *o, struct strvec *env, struct err *e);

/* What is left of a ticket's time, which all its runs share. ERR_REFUSED if nothing is left. */
int ticket_task_time(
	struct context *c, const struct task *child, uint64_t seconds, uint64_t *ret, struct err *e);

#endif
