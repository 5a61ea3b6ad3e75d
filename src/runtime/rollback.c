#include "runtime/rollback.h"

#include "base/alloc.h"
#include "base/deadline.h"
#include "runtime/gateway_client.h"
#include "sys/fd.h"
#include "task/set_aside.h"
#include "task/task.h"
#include "workspace/aside.h"

#define SETTLE_MS 10000

/* Waits until the keeper has left; then moves directories that were set aside unnecessarily, or that come back,
 * to their places. If another command keeps the keeper running, the next start of the task does it. */
static void settle(struct context *c, struct task *t, struct strvec *warnings)
{
	struct deadline d = deadline_in(SETTLE_MS);
	auto_strvec stuck = STRVEC_INIT;
	struct err e = ERR_INIT;
	int rc;

	while ((rc = set_aside_settle_task(c, t, &stuck, &e)) < 0 && e.kind == ERR_BUSY &&
		deadline_sleep(&d, 2))
		e = (struct err)ERR_INIT;
	if (rc < 0 && e.kind == ERR_BUSY)
		strvec_pushf(warnings,
			"ignored directories of task '%s' come back when its commands have ended", t->name);
	else if (rc < 0)
		strvec_push(warnings, e.msg);
	strvec_pushv(warnings, (const char *const *)stuck.v);
}

/* Finds which directories a rollback to the snapshot restores, and warns about those that it cannot restore
 * any more. */
static int look_aside(struct context *c, struct task *t, int64_t snapshot, bool undo, bool *ret_kept,
	struct strvec *warnings, struct err *e)
{
	auto_strvec kept = STRVEC_INIT, given = STRVEC_INIT;
	auto_task_at at = { .ws.dir = -1 };

	if (context_store(c, e) < 0 || task_open(c, t, &at, e) < 0 ||
		aside_kept(&at.ws, snapshot, &kept, e) < 0 || aside_given(&at.ws, snapshot, &given, e) < 0)
		return -1;
	*ret_kept = kept.n > 0;
	if (given.n && !undo)
		strvec_pushf(warnings,
			"snapshot %lld has no ignored directories any more: garth undo took them out of it: %s%s",
			(long long)snapshot, given.v[0], given.n > 1 ? " and more" : "");
	return 0;
}

int runtime_rollback(
	struct context *c, struct task *t, json_t *in, struct strvec *warnings, json_t **ret, struct err *e)
{
	struct gateway_question q = { .path = "/user/v1/rollback",
		.set_aside = !json_object_get(in, "file") && !json_object_get(in, "file_hex") };
	int64_t snapshot = json_integer_value(json_object_get(in, "snapshot"));
	struct err none = ERR_INIT;
	auto_fd dir = -1;
	int rc;

	if (q.set_aside && snapshot &&
		look_aside(c, t, snapshot, json_is_true(json_object_get(in, "undo")), &q.stopped, warnings,
			e) < 0) {
		json_decref(in);
		return -1;
	}
	rc = gateway_ask_with(c, t, &q, in, ret, e);
	if (q.set_aside && !home_task_dir(&c->home, t->id, &dir, &none) && aside_is_pending(dir))
		settle(c, t, warnings);
	return rc;
}

/* An undo is a rollback, but not recorded as a deed: if it is killed, the same deed is undone again. */
int rollback_undo(struct context *c, const struct deed *d, struct strvec *warnings, struct err *e)
{
	/* the snapshot, and the path if only that was rolled back */
	json_t *data = json_loads(d->data, 0, NULL), *answer = NULL;
	auto_task t = { 0 };

	if (!json_integer_value(json_object_get(data, "snapshot"))) {
		json_decref(data);
		return err_set(e, ERR_FAILED, "the store does not say where task '%s' was before", d->task);
	}
	json_object_set_new(data, "undo", json_true());
	if (task_find_id(c, d->task_id, &t, e) < 0) {
		json_decref(data);
		return -1;
	}
	if (runtime_rollback(c, &t, data, warnings, &answer, e) < 0)
		return -1;
	json_decref(answer);
	return 0;
}
