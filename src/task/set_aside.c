#include "task/set_aside.h"

#include <jansson.h>

#include "sys/lock.h"
#include "workspace/aside.h"

/* The snapshot that the task's last rollback took, unless that rollback was undone; 0: none. If an undo
 * was interrupted in its last step, it counts as done: a second undo would set aside again what is put
 * back here. */
static int find_recorded(struct context *c, struct task_at *at, int64_t *ret, struct err *e)
{
	const struct task *t = at->task;
	auto_deed d = { 0 };
	json_t *data;

	*ret = 0;
	if (context_store(c, e) < 0)
		return -1;
	if (store_deed_of(c->store, t->id, "rollback", &d, e) < 0)
		return e->kind == ERR_NOTFOUND ? 0 : -1;
	data = json_loads(d.data, 0, NULL);
	*ret = json_integer_value(json_object_get(data, "snapshot"));
	json_decref(data);
	return aside_is_undone(at->ws.dir, *ret) ? store_deed_undone(c->store, d.id, e) : 0;
}

int set_aside_settle(struct context *c, struct task_at *at, struct strvec *stuck, struct err *e)
{
	int64_t recorded;

	if (!aside_is_pending(at->ws.dir))
		return 0;
	if (find_recorded(c, at, &recorded, e) < 0)
		return -1;
	return aside_settle(&at->ws, recorded, stuck, e);
}

int set_aside_settle_task(struct context *c, struct task *t, struct strvec *stuck, struct err *e)
{
	auto_task_at at = { .ws.dir = -1 };
	auto_lock lock = -1;

	if (context_store(c, e) < 0 || task_open(c, t, &at, e) < 0 ||
		lock_take(at.ws.dir, "lock", false, &lock, e) < 0)
		return -1;
	return set_aside_settle(c, &at, stuck, e);
}
