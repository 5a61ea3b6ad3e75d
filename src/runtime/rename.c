#include "runtime/rename.h"

#include <jansson.h>

#include "base/alloc.h"
#include "base/deadline.h"
#include "runtime/gateway_client.h"
#include "sys/fd.h"
#include "sys/lock.h"
#include "task/tickets.h"
#include "task/life.h"
#include "task/planned.h"
#include "task/rename.h"
#include "task/task.h"

#define LEAVING_MS 1000

/* The keeper that was started for it leaves at once. */
static void wait_for_leaving(const struct context *c, const struct task *t)
{
	struct deadline d = deadline_in(LEAVING_MS);
	struct err ignored = ERR_INIT;
	auto_fd dir = -1;

	if (home_task_dir(&c->home, t->id, &dir, &ignored) < 0)
		return;
	while (lock_is_held(dir, "lock") && deadline_sleep(&d, 2))
		;
}

int rename_inside(struct context *c, struct task *t, struct err *e)
{
	json_t *answer = NULL;

	if (!*t->inside_was)
		return 0;
	if (gateway_ask(c, t, "/user/v1/renamed", json_object(), &answer, e) < 0)
		return -1;
	json_decref(answer);
	t->inside_was[0] = '\0';
	if (!life_is_running(t))
		wait_for_leaving(c, t);
	return 0;
}

static void rename_inside_now(struct context *c, struct task *t, struct strvec *warnings)
{
	struct err failed = ERR_INIT;

	if (rename_inside(c, t, &failed) < 0)
		strvec_pushf(warnings, "inside, the branch gets its new name when the task next runs: %s",
			failed.msg);
}

int runtime_rename(
	struct context *c, struct task *t, const char *name, struct strvec *warnings, struct err *e)
{
	if (planned_refuse(c, t, false, e) < 0 || tickets_refuse_rename(c, t, e) < 0 ||
		task_rename(c, t, name, NULL, e) < 0)
		return -1;
	rename_inside_now(c, t, warnings);
	return 0;
}

int rename_undo(struct context *c, const struct deed *d, struct strvec *warnings, struct err *e)
{
	auto_str old = rename_old_name(d);
	auto_task t = { 0 };

	if (!old)
		return err_set(e, ERR_FAILED, "the store does not say which name task '%s' had", d->task);
	if (task_find_id(c, d->task_id, &t, e) < 0)
		return e->kind == ERR_NOTFOUND ? err_set(e, ERR_NOTFOUND, "task '%s' is removed", d->task)
					       : -1;
	if (task_rename(c, &t, old, d, e) < 0)
		return -1;
	rename_inside_now(c, &t, warnings);
	return 0;
}
