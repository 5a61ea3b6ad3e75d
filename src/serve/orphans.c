#include "base/alloc.h"
#include "doctor/doctor.h"
#include "merge/merge.h"
#include "serve/jobs.h"
#include "task/task.h"

/* Cleans up after dead processes, as every command does for the tasks it uses. */
static int settle(struct context *c, struct outcome *o, struct err *e)
{
	auto_task_list all = { 0 };

	if (merge_settle(c, &o->done, e) < 0 || context_store(c, e) < 0 ||
		store_task_list(c->store, false, &all, e) < 0)
		return -1;
	for (size_t i = 0; i < all.n; i++) {
		struct task *t = &all.v[i];
		auto_str before = xstrdup(t->state);
		struct err why = ERR_INIT;
		bool gone = false;

		if (task_settle(c, t, &gone, &why) < 0)
			strvec_pushf(&o->warnings, "task '%s': %s", t->name, why.msg);
		else if (gone)
			strvec_pushf(&o->done, "task '%s' was left half done, and is removed", t->name);
		else if (strcmp(before, t->state))
			strvec_pushf(&o->warnings,
				"task '%s' has lost its keeper and is %s; its workspace is kept", t->name,
				t->state);
	}
	return 0;
}

int job_orphans(struct context *c, struct outcome *o, struct err *e)
{
	auto_findings found = { 0 };
	size_t would = 0;

	if (settle(c, o, e) < 0 || doctor_look(c, &found, e) < 0)
		return -1;
	/* only reported: the user decides about repairs */
	for (size_t i = 0; i < found.n; i++) {
		const struct finding *f = &found.v[i];

		if (f->note)
			continue;
		strvec_pushf(&o->warnings, "%s: %s", f->subject, f->what);
		would += f->would != NULL;
	}
	if (would)
		strvec_pushf(&o->warnings, "%zu of these can be mended: garth doctor --repair", would);
	return 0;
}
