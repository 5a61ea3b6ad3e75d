#include "base/alloc.h"
#include "cli/cmd.h"
#include "cli/each_task.h"
#include "cli/json.h"
#include "cli/progress.h"
#include "cli/remaining.h"
#include "cli/say.h"
#include "task/planned.h"
#include "task/tickets.h"

static int discard_one(struct context *c, struct task *t, void *data, json_t **ret, struct err *e)
{
	/* `undo TASK` would leave them in the trash */
	bool tickets = tickets_had(c, t);
	auto_str trash = NULL;
	int rc;

	progress_begin("discarding");
	rc = planned_refuse(c, t, true, e) < 0 ? -1 : task_discard(c, t, data, &trash, e);
	progress_end();
	if (rc < 0)
		return -1;
	remaining_tell_branch(c, t);
	*ret = json_pack(
		"{s:o, s:o}", "task", json_text(t->name), "trash", trash ? json_text(trash) : json_null());
	if (!trash) {
		say_done("task '%s' is discarded; there was no work in it", t->name);
		return 0;
	}
	say_done("task '%s' is discarded; its work stays in %s for %d days", t->name, trash, TASK_TRASH_DAYS);
	say_hint("garth undo%s%s", tickets ? "" : " ", tickets ? "" : t->name);
	return 0;
}

int cmd_discard(int argc, char **argv)
{
	struct discard_opts o = { 0 };
	struct each_task m = { .one = discard_one, .data = &o, .batch = true };
	const struct opt opts[] = {
		{ 'f', "force", OPT_FLAG, &o.files, NULL, "discard even if files are changed" },
		{ 'D', "drafts", OPT_FLAG, &o.drafts, NULL,
			"discard even drafts and commits that are not merged" },
		{ 0, "reason", OPT_STR, &o.reason, "TEXT", "why, for the audit log", WORD_TEXT },
		{ 0, "tip", OPT_STR, &o.tip, "COMMIT", "discard only if the task's branch is at this commit",
			WORD_REVISION },
		{ 0, "json", OPT_FLAG, &m.json, NULL, "print JSON" },
		OPT_END,
	};
	struct cmd_line l = { "discard", opts, 1, -1, false, 0, 0 };
	struct err e = ERR_INIT;

	CMD_PARSE(&l, argc, argv);
	return each_task_run(&m, argv, l.words);
}
