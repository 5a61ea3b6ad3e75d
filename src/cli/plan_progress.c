#include "cli/plan_progress.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "plan/make.h"
#include "plan/stage_life.h"
#include "store/plan.h"
#include "task/life.h"

bool plan_progress(struct context *c, const struct task *t, struct plan_progress *ret)
{
	struct err ignored = ERR_INIT;
	auto_stage_row_list stages = { 0 };
	auto_plan_row row = { 0 };

	if (t->removed || strcmp(t->state, STATE_CREATED) != 0 || context_store(c, &ignored) < 0 ||
		store_plan_own(c->store, t->id, &row, &ignored) < 0 ||
		store_stage_list(c->store, row.id, &stages, &ignored) < 0)
		return false;
	*ret = (struct plan_progress){ .total = stages.n, .over = row.ended != 0 };
	snprintf(ret->state, sizeof(ret->state), "%s", row.state);
	for (size_t i = 0; i < stages.n; i++)
		ret->done += stage_is(&stages.v[i], STAGE_DONE);
	ret->runner = !ret->over && plan_has_runner(c, &row);
	return true;
}

char *plan_progress_text(const struct plan_progress *p)
{
	return xasprintf("%s, %zu of %zu stages done%s", p->state, p->done, p->total,
		p->over || p->runner ? "" : ", no runner");
}

json_t *plan_progress_json(struct context *c, const struct task *t)
{
	struct plan_progress p;

	if (!plan_progress(c, t, &p))
		return json_null();
	return json_pack("{s:s, s:b, s:I, s:I}", "plan_state", p.state, "has_runner", p.runner, "stages_done",
		(json_int_t)p.done, "stages_total", (json_int_t)p.total);
}
