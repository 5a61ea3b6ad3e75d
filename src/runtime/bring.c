#include "runtime/bring.h"

#include "base/alloc.h"
#include "sys/lock.h"

void bring_release(struct bring *b)
{
	include_report_release(&b->included);
	strvec_release(&b->warnings);
}

static int include(struct context *c, const struct repo *r, const struct task *t, struct bring *b,
	struct task_layers *ret, struct err *e)
{
	auto_str name = NULL;
	auto_lock lock = -1;

	if (include_layer(&c->home, t->project_id, r, &c->config.include, &name, &lock, &b->included, e) < 0)
		return -1;
	if (!name)
		return 0;
	strvec_push(&ret->names, name);
	ret->locks[ret->nlocks++] = lock;
	lock = -1;
	return 0;
}

int runtime_bring(struct context *c, const struct repo *r, const struct task *t, struct task_layers *ret,
	void *arg, struct err *e)
{
	struct bring *b = arg;

	return b->no_include ? 0 : include(c, r, t, b, ret, e);
}
