#include "runtime/try.h"

#include "base/alloc.h"
#include "base/deadline.h"
#include "sys/fd.h"
#include "sys/lock.h"
#include "task/remove.h"

/* After its last command has ended, a keeper leaves. */
#define LEAVE_MS 30000

static void drop(struct context *c, struct task *t)
{
	struct deadline d = deadline_in(LEAVE_MS);
	struct err ignored = ERR_INIT;
	auto_lock lock = -1;
	auto_fd dir = -1;

	if (context_store(c, &ignored) < 0 || home_task_dir(&c->home, t->id, &dir, &ignored) < 0)
		return;
	while (lock_is_held(dir, "lock") && deadline_sleep(&d, 5))
		;
	if (!lock_take(dir, "lock", false, &lock, &ignored))
		remove_for_good(c, t, &ignored);
}

int runtime_try(struct context *c, const struct try_spec *s, int *ret_code, struct err *e)
{
	const struct task_spec spec = { .program = "agent-test", .empty = true };
	struct run_opts o = { .agent = s->agent, .argv = s->argv, .timeout = s->seconds, .quiet = true };
	auto_task t = { 0 };
	int rc;

	if (task_create(c, &spec, &t, e) < 0)
		return -1;
	o.net.mode = xstrdup(NETWORK_NONE);
	rc = runtime_wait_output(c, &t, &o, s->argv, s->fn, s->arg, ret_code, e);
	network_release(&o.net);
	drop(c, &t);
	return rc;
}
