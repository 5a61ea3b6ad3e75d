#include <time.h>

#include "base/alloc.h"
#include "serve/jobs.h"
#include "task/cleanup.h"

int job_stale(struct context *c, struct outcome *o, struct err *e)
{
	const struct cleanup_opts opts = { .before = (int64_t)time(NULL) - (int64_t)c->config.stale_after };
	auto_cleanup_report r = { 0 };
	auto_task_list all = { 0 };

	if (store_task_list(c->store, false, &all, e) < 0)
		return -1;
	cleanup_tasks(c, &all, &opts, &r);
	for (size_t i = 0; i < r.removed.n; i++)
		strvec_pushf(&o->done, "stale task '%s' is removed", r.removed.v[i]);
	for (size_t i = 0; i < r.kept.n; i++)
		strvec_pushf(&o->warnings, "stale task '%s' is kept: %s", r.kept.v[i], r.why.v[i]);
	return 0;
}
