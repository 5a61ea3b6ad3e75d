#include "plan/job.h"

#include "base/alloc.h"
#include "git/ref.h"

char *job_branch(const struct plan_row *p)
{
	return xasprintf("refs/heads/garth/%s", p->name);
}

int job_open_repo(struct context *c, const struct plan_row *p, struct repo *ret, struct err *e)
{
	auto_project project = { 0 };
	auto_task t = { 0 };

	if (context_store(c, e) < 0 || store_project_by_id(c->store, p->project_id, &project, e) < 0 ||
		store_task_any(c->store, p->task_id, &t, e) < 0)
		return -1;
	return repo_open_git_dir(project.git_dir, project.path, (unsigned)strlen(t.base) / 2, ret, e);
}

int job_integration(
	struct context *c, const struct plan_row *p, const struct repo *r, char out[OID_SIZE], struct err *e)
{
	auto_str branch = job_branch(p);

	(void)c;
	if (ref_read(r, branch, out, e) < 0)
		return -1;
	return *out ? 0 : err_set(e, ERR_NOTFOUND, "the branch garth/%s is gone", p->name);
}
