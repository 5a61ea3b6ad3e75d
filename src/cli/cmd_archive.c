#include <stdio.h>

#include "base/alloc.h"
#include "cli/cmd.h"
#include "cli/each_task.h"
#include "cli/json.h"
#include "cli/progress.h"
#include "cli/remaining.h"
#include "cli/say.h"
#include "task/archive.h"
#include "task/submodule_refs.h"
#include "task/tickets.h"

static int archive_one(struct context *c, struct task *t, void *data, json_t **ret, struct err *e)
{
	auto_submodule_refs refs = { 0 };
	bool tickets = tickets_had(c, t);
	auto_str path = NULL;
	int rc;

	(void)data;
	progress_begin("packing");
	rc = task_archive(c, t, &refs, &path, e);
	progress_end();
	if (rc < 0)
		return -1;
	remaining_tell_branch(c, t);
	remaining_tell_submodules(c, t, &refs);
	*ret = json_pack("{s:o, s:o}", "task", json_text(t->name), "archive", json_text(path));
	if (!say_is_json())
		printf("%s\n", path);
	say_done("task '%s' is archived, with all that was in it", t->name);
	say_hint("garth undo%s%s", tickets ? "" : " ", tickets ? "" : t->name);
	return 0;
}

int cmd_archive(int argc, char **argv)
{
	struct each_task m = { .one = archive_one, .batch = true };
	const struct opt opts[] = { { 0, "json", OPT_FLAG, &m.json, NULL, "print JSON" }, OPT_END };
	struct cmd_line l = { "archive", opts, 1, -1, false, 0, 0 };
	struct err e = ERR_INIT;

	CMD_PARSE(&l, argc, argv);
	return each_task_run(&m, argv, l.words);
}
