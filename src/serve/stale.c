#include <time.h>

#include "base/alloc.h"
#include "serve/jobs.h"
#include "task/cleanup.h"

static int clean(struct context *c, const struct cleanup_opts *opts, const char *kind, struct outcome *o,
	struct cleanup_report *r, struct err *e)
{
	auto_task_list all = { 0 };

	if (store_task_list(c->store, false, &all, e) < 0)
		return -1;
	cleanup_tasks(c, &all, opts, r);
	for (size_t i = 0; i < r->removed.n; i++)
		strvec_pushf(&o->done, "%s task '%s' %s", kind, r->removed.v[i],
			o->look ? "would be removed; nothing is in the first hour" : "is removed");
	for (size_t i = 0; !o->look && i < all.n; i++) {
		auto_str top =
			strvec_has(&r->removed, all.v[i].name) ? task_branch_kept_by(c, &all.v[i]) : NULL;

		if (top)
			strvec_pushf(&o->done, "the branch of task '%s' stays: it is checked out in '%s'",
				all.v[i].name, top);
	}
	return 0;
}

int job_stale(struct context *c, struct outcome *o, struct err *e)
{
	const struct cleanup_opts merged = {
		.before = INT64_MIN, .merged = true, .once = true, .look = o->look
	};
	const struct cleanup_opts stale = { .before = (int64_t)time(NULL) - (int64_t)c->config.stale_after,
		.look = o->look };
	auto_cleanup_report ignored = { 0 }, r = { 0 };

	/* stale tasks first, so that they are reported as stale; a merged task with more work in it is
	 * removed only when stale */
	if (clean(c, &stale, "stale", o, &r, e) < 0 || clean(c, &merged, "merged", o, &ignored, e) < 0)
		return -1;
	for (size_t i = 0; i < r.kept.n; i++)
		strvec_pushf(&o->warnings, "stale task '%s' is kept: %s", r.kept.v[i], r.why.v[i]);
	return 0;
}
