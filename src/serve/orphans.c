#include "base/alloc.h"
#include "merge/merge.h"
#include "serve/jobs.h"
#include "task/life.h"
#include "task/remove.h"
#include "task/task.h"

static void look_at(struct context *c, struct task *t, struct strvec *ret)
{
	auto_str before = xstrdup(t->state);
	bool gone = false, left = false;
	struct err e = ERR_INIT;

	if (task_settle(c, t, &gone, &e) < 0)
		strvec_pushf(ret, "task '%s': %s", t->name, e.msg);
	else if (gone)
		strvec_pushf(ret, "task '%s' was left half %s, and is removed", t->name,
			!strcmp(before, STATE_CREATING) ? "made" : "discarded");
	else if (strcmp(before, t->state))
		strvec_pushf(ret, "task '%s' has lost its keeper and is %s; its workspace is kept", t->name,
			t->state);
	if (!gone && !remove_leftovers(c, t, &left, &e) && left)
		strvec_pushf(
			ret, "task '%s' has lost its gateway at work; what that left is removed", t->name);
}

int serve_orphans(struct context *c, struct strvec *ret, struct err *e)
{
	auto_task_list all = { 0 };

	if (merge_settle(c, ret, e) < 0 || context_store(c, e) < 0 ||
		store_task_list(c->store, false, &all, e) < 0)
		return -1;
	for (size_t i = 0; i < all.n; i++)
		look_at(c, &all.v[i], ret);
	return 0;
}

int job_orphans(struct context *c, struct outcome *o, struct err *e)
{
	return serve_orphans(c, &o->warnings, e);
}
