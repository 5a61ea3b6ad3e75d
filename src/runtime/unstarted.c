#include "runtime/unstarted.h"

#include <string.h>

#include "base/alloc.h"
#include "jail/probe.h"
#include "task/task.h"

void unstarted_explain(struct err *e, bool weaker)
{
	struct probe p;

	if (e->kind != ERR_START || e->hint[0])
		return;
	probe_kernel(&p);
	for (int i = 0; i < p.n; i++)
		if (!p.rows[i].ok && p.rows[i].required) {
			err_wrap(e, "%s: %s%s", p.rows[i].name, p.rows[i].found,
				strcmp(p.rows[i].name, "user namespaces") ? ""
				: weaker ? "; Landlock alone goes with --backend clone"
					 : "; --allow-weaker runs on Landlock alone");
			err_hint(e, "%s", *p.rows[i].enable ? p.rows[i].enable : "garth doctor");
			return;
		}
}

void unstarted_drop(struct context *c, const struct task *t, const struct err *why)
{
	const struct discard_opts careful = { 0 };
	struct err ignored = ERR_INIT;
	auto_str trash = NULL;
	auto_task now = { 0 };

	if ((why->kind == ERR_START || why->kind == ERR_CONFIG || why->kind == ERR_USAGE) &&
		!task_find_id(c, t->id, &now, &ignored))
		task_discard(c, &now, &careful, &trash, &ignored);
}
