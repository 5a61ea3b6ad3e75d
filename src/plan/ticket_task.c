#include "plan/ticket_task.h"

#include <string.h>

#include "base/alloc.h"
#include "runtime/choose_network.h"
#include "sys/fd.h"
#include "task/network.h"
#include "task/own_config.h"
#include "task/task_command.h"
#include "workspace/submodules.h"

static int open_parent(const struct stage_job *j, int *ret, struct err *e)
{
	return home_task_dir(&j->c->home, j->row->task_id, ret, e);
}

/* The submodules that the ticket names, else those of the task; "none" if the task has none. */
static int choose_submodules(const struct stage_job *j, int parent, struct strvec *ret, struct err *e)
{
	auto_submodules subs = { 0 };

	if (submodules_load(parent, &subs, e) < 0)
		return -1;
	for (size_t i = 0; i < subs.n; i++)
		if (submodule_is_here(&subs.v[i]) &&
			(!j->stage->submodules.n || strvec_has(&j->stage->submodules, subs.v[i].path)))
			strvec_push(ret, subs.v[i].path);
	if (!ret->n)
		strvec_push(ret, "none");
	return 0;
}

int ticket_task_spec(
	const struct stage_job *j, struct task *ret_parent, struct task_spec *spec, struct err *e)
{
	auto_task_command cmd = { 0 };
	struct err ignored = ERR_INIT;
	auto_fd dir = -1;

	spec->submodules = (struct strvec)STRVEC_INIT;
	if (!j->row->tickets) {
		for (size_t i = 0; i < j->stage->submodules.n; i++)
			strvec_push(&spec->submodules, j->stage->submodules.v[i]);
		return 0;
	}
	if (context_store(j->c, e) < 0 || store_task_by_id(j->c->store, j->row->task_id, ret_parent, e) < 0 ||
		open_parent(j, &dir, e) < 0)
		return -1;
	if (!task_command_load(dir, &cmd, &ignored))
		spec->weaker = cmd.weaker;
	spec->backend = ret_parent->backend;
	/* Landlock alone is not a backend that can be asked for */
	if (backend_of(ret_parent)->landlock_only)
		spec->backend = NULL;
	spec->strict = ret_parent->strict;
	return choose_submodules(j, dir, &spec->submodules, e);
}

int ticket_task_layers(const struct stage_job *j, int dir, struct err *e)
{
	auto_fd parent = -1;

	if (!j->row->tickets)
		return 0;
	return open_parent(j, &parent, e) < 0 ? -1 : own_config_keep_parents(dir, parent, e);
}

int ticket_task_network(const struct stage_job *j, struct run_opts *o, struct err *e)
{
	const struct plan_network *n = &j->stage->network;
	auto_network has = { 0 };
	auto_fd dir = -1;
	bool list;

	if (!j->row->tickets)
		return runtime_choose_network(j->c, n->mode, &n->allow, o, e);
	if (open_parent(j, &dir, e) < 0 || network_load(dir, false, &has, e) < 0)
		return -1;
	list = !strcmp(has.mode, NETWORK_ALLOW);
	return runtime_choose_network(j->c, has.mode, list ? &has.allow : NULL, o, e);
}

bool ticket_task_offline(const struct stage_job *j)
{
	struct err ignored = ERR_INIT;
	auto_network has = { 0 };
	auto_fd dir = -1;

	if (!j->row->tickets)
		return !network_choose(&j->c->config, NULL, j->stage->network.mode, &j->stage->network.allow,
			       &has, &ignored) &&
		       !strcmp(has.mode, NETWORK_NONE);
	return open_parent(j, &dir, &ignored) < 0 || network_load(dir, false, &has, &ignored) < 0 ||
	       !strcmp(has.mode, NETWORK_NONE);
}

int ticket_task_options(const struct stage_job *j, struct run_opts *o, struct strvec *env, struct err *e)
{
	auto_task_command cmd = { 0 };
	auto_fd dir = -1;

	if (!j->row->tickets)
		return 0;
	if (open_parent(j, &dir, e) < 0)
		return -1;
	if (task_command_load(dir, &cmd, e) < 0)
		return e->kind == ERR_NOTFOUND ? (*e = (struct err)ERR_INIT, 0) : -1;
	for (size_t i = 0; i < cmd.env.n; i++)
		strvec_push(env, cmd.env.v[i]);
	o->walls.allow_weaker = cmd.weaker;
	return 0;
}

int ticket_task_time(
	struct context *c, const struct task *child, uint64_t seconds, uint64_t *ret, struct err *e)
{
	uint64_t used = 0;

	if (context_store(c, e) < 0 || store_run_seconds(c->store, child->id, &used, e) < 0)
		return -1;
	if (used >= seconds)
		return err_set(e, ERR_REFUSED, "its time is used up: %llu seconds for all of its runs",
			(unsigned long long)seconds);
	*ret = seconds - used;
	return 0;
}
