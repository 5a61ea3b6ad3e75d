/* Finds ignored directories that a rollback set aside and that a crash kept from being moved back or from
 * becoming part of a snapshot. */
#include "base/alloc.h"
#include "doctor/parts.h"
#include "sys/fd.h"
#include "task/set_aside.h"
#include "task/task.h"
#include "workspace/aside.h"

static int mend(struct context *c, struct finding *f, struct err *e)
{
	auto_strvec stuck = STRVEC_INIT;
	auto_task t = { 0 };

	if (store_task_by_id(c->store, f->task, &t, e) < 0 || set_aside_settle_task(c, &t, &stuck, e) < 0)
		return -1;
	return stuck.n ? err_set(e, ERR_EXISTS, "%s", stuck.v[0]) : 0;
}

int aside_look(struct survey *s, struct findings *out, struct err *e)
{
	(void)e;
	for (size_t i = 0; i < s->tasks.n; i++) {
		const struct task *t = &s->tasks.v[i];
		struct err none = ERR_INIT;
		auto_fd dir = -1;
		struct finding *f;

		if (t->removed || !survey_rests(t) || home_task_dir(&s->c->home, t->id, &dir, &none) < 0)
			continue;
		/* checked twice: a rollback that is running holds the lock, or has finished by the second
		 * check */
		if (!aside_is_pending(dir) || task_is_busy(s->c, t) || !aside_is_pending(dir))
			continue;
		f = finding_add(out, "aside", t->name,
			"a rollback was cut short while ignored directories were set aside");
		f->task = t->id;
		finding_mend(f, mend, "put them back, or into the snapshot that they belong to");
	}
	return 0;
}
