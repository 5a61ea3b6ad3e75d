#include "runtime/land.h"

#include <string.h>

#include "base/alloc.h"
#include "runtime/resolve.h"
#include "sys/fd.h"
#include "task/life.h"
#include "task/planned.h"
#include "task/task.h"
#include "task/tickets.h"

void land_result_release(struct land_result *r)
{
	merge_result_release(&r->merge);
	task_release(&r->in);
}

/* own: the merge is this task's own. An undo must not also undo an older merge, or another task's. */
static bool put_away(
	struct context *c, struct task *t, const struct land_spec *s, bool own, struct land_result *r)
{
	const struct discard_opts o = { .merged = own && !r->merge.nothing };
	struct err e = ERR_INIT;
	auto_str trash = NULL;

	if (s->keep || s->merge.dry_run || strcmp(t->state, STATE_MERGED) ||
		strcmp(r->merge.target, t->target))
		return false;
	if (!planned_refuse(c, t, false, &e) && !task_discard(c, t, &o, &trash, &e))
		return true;
	r->kept = e;
	return false;
}

static int land(
	struct context *c, struct task *t, const struct land_spec *s, struct land_result *ret, struct err *e)
{
	int rc = s->resolved ? resolve_continue(c, t, &s->merge, &ret->merge, &ret->in, e)
			     : merge_task(c, t, &s->merge, &ret->merge, e);

	if (rc < 0)
		return -1;
	ret->removed = put_away(c, t, s, !s->resolved, ret);
	/* last, so that the next undo undoes the merge */
	if (s->resolved)
		ret->in_removed = put_away(c, &ret->in, s, true, ret);
	return 0;
}

/* Its tickets go with it: one undo brings all of them back. */
int land_task(
	struct context *c, struct task *t, const struct land_spec *s, struct land_result *ret, struct err *e)
{
	auto_fd dir = -1;
	bool batch;
	int rc;

	if (tickets_refuse_merge(c, t, e) < 0)
		return -1;
	batch = home_task_dir(&c->home, t->id, &dir, e) == 0 && tickets_are_there(dir);
	*e = (struct err)ERR_INIT;
	if (context_store(c, e) < 0)
		return -1;
	if (batch)
		store_batch_begin(c->store);
	rc = land(c, t, s, ret, e);
	if (batch && c->store)
		store_batch_end(c->store);
	return rc;
}
