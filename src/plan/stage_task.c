#include "plan/stage_task.h"

#include <string.h>

#include "base/alloc.h"
#include "plan/resolution.h"
#include "plan/ticket_task.h"
#include "runtime/add_layers.h"
#include "sys/fd.h"
#include "sys/lock.h"
#include "task/life.h"
#include "task/remove.h"
#include "task/task.h"

static int find(struct stage_job *j, struct task *ret, struct err *e)
{
	auto_str branch = job_branch(j->row);
	auto_task t = { 0 };

	if (context_store(j->c, e) < 0)
		return -1;
	if (store_task_by_name(j->c->store, j->row->project_id, j->at->task, &t, e) < 0 ||
		task_find_id(j->c, t.id, ret, e) < 0)
		return -1;
	if (!strcmp(ret->target, branch))
		return 0;
	task_release(ret);
	*ret = (struct task){ 0 };
	return err_set(e, ERR_EXISTS, "there is another task '%s', which is not the plan's", j->at->task);
}

static int make(struct stage_job *j, struct task *ret, struct err *e)
{
	auto_str branch = job_branch(j->row), shown = NULL;
	auto_project p = { 0 };
	auto_add_layers layers = { .offline = ticket_task_offline(j) };
	auto_task parent = { 0 };
	struct task_spec spec = { .name = j->at->task,
		.rev = branch,
		.add_layers = runtime_add_layers,
		.add_layers_arg = &layers };
	int rc;

	if (context_store(j->c, e) < 0 || store_project_by_id(j->c->store, j->row->project_id, &p, e) < 0)
		return -1;
	if (j->at->own_id && resolution_branch(j, &shown, e) < 0)
		return -1;
	spec.dir = p.path;
	spec.also_shown = shown;
	rc = ticket_task_spec(j, &parent, &spec, e) < 0 ? -1 : task_create(j->c, &spec, ret, e);
	strvec_release(&spec.submodules);
	return rc;
}

/* Whether the integration branch has moved since an earlier, unsuccessful start made the task. */
static int is_old(struct stage_job *j, const struct task *t, bool *ret, struct err *e)
{
	auto_repo r = { 0 };
	char tip[OID_SIZE];

	*ret = false;
	if (j->at->starting || t->started || *t->published || strcmp(t->state, STATE_CREATED) != 0)
		return 0;
	if (job_open_repo(j->c, j->row, &r, e) < 0 || job_integration(j->c, j->row, &r, tip, e) < 0)
		return -1;
	*ret = strcmp(tip, t->base) != 0;
	return 0;
}

/* *ret: the task is removed. It stays if it is in use, or if any work in it would be lost. */
static void drop(struct stage_job *j, struct task *t, bool *ret)
{
	const struct discard_opts look = { .look = true };
	struct err why = ERR_INIT;
	auto_str trash = NULL;
	auto_lock lock = -1;
	auto_fd dir = -1;

	*ret = false;
	if (task_discard(j->c, t, &look, &trash, &why) < 0 || context_store(j->c, &why) < 0 ||
		home_task_dir(&j->c->home, t->id, &dir, &why) < 0 ||
		lock_take(dir, "lock", false, &lock, &why) < 0)
		return;
	*ret = !remove_for_good(j->c, t, &why);
}

int stage_task(struct stage_job *j, struct task *ret, struct err *e)
{
	bool old = false, gone = false;
	auto_task t = { 0 };

	if (find(j, &t, e) < 0) {
		if (e->kind != ERR_NOTFOUND)
			return -1;
		*e = (struct err)ERR_INIT;
		return make(j, ret, e);
	}
	if (is_old(j, &t, &old, e) < 0)
		return -1;
	if (old)
		drop(j, &t, &gone);
	if (gone)
		return make(j, ret, e);
	*ret = t;
	t = (struct task){ 0 };
	return 0;
}
