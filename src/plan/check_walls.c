#include "plan/check_walls.h"

#include "base/alloc.h"
#include "plan/check_key.h"
#include "plan/job.h"
#include "runtime/add_layers.h"
#include "task/here.h"
#include "task/task.h"

/* A layer's name changes with the files that it is made of. */
static int find_layers(struct context *c, const struct plan_row *p, struct task_layers *ret, struct err *e)
{
	auto_add_layers layers = { .no_setup = true };
	auto_str branch = job_branch(p);
	struct task t = { .project_id = p->project_id };
	auto_project project = { 0 };
	auto_repo r = { 0 };

	if (context_store(c, e) < 0 || store_project_by_id(c->store, p->project_id, &project, e) < 0 ||
		here_open(c, project.path, branch, &r, e) < 0)
		return -1;
	return runtime_add_layers(c, &r, &t, ret, &layers, e);
}

char *check_walls_now(struct context *c, const struct plan_row *p)
{
	auto_task_layers layers = { 0 };
	struct err ignored = ERR_INIT;

	/* after the merge the branch is gone; other errors are reported when a check's task is made */
	find_layers(c, p, &layers, &ignored);
	return check_walls(&c->config, &layers.names);
}
