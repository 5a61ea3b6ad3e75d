#include "task/planned.h"

#include <string.h>

#include "base/alloc.h"
#include "store/plan.h"

int planned_refuse(struct context *c, const struct task *t, bool own, struct err *e)
{
	auto_str plan = NULL;

	if (context_store(c, e) < 0 || store_plan_of_task(c->store, t->id, &plan, e) < 0)
		return -1;
	/* a stage's task has a longer name */
	if (!plan || (own && strcmp(plan, t->name) != 0))
		return 0;
	err_set(e, ERR_REFUSED, "task '%s' belongs to the plan '%s', which is not over", t->name, plan);
	return err_hint(e, "garth plan cancel %s", plan);
}
