#include <stdio.h>

#include "base/alloc.h"
#include "cli/cmd.h"
#include "cli/json.h"
#include "cli/progress.h"
#include "cli/rest.h"
#include "cli/say.h"

int cmd_discard(int argc, char **argv)
{
	struct discard_opts o = { 0 };
	bool json = false;
	const struct opt opts[] = {
		{ 'f', "force", OPT_FLAG, &o.files, NULL, "discard even if files are changed" },
		{ 'D', "drafts", OPT_FLAG, &o.drafts, NULL,
			"discard even drafts and commits that are not merged" },
		{ 0, "json", OPT_FLAG, &json, NULL, "print JSON" },
		OPT_END,
	};
	struct cmd_line l = { "discard", opts, 1, 1, false, 0, 0 };
	auto_context c = { .home.fd = -1 };
	struct err e = ERR_INIT;
	auto_str trash = NULL;
	auto_task t = { 0 };
	int rc;

	CMD_PARSE(&l, argc, argv);
	progress_begin("discarding");
	rc = cmd_open_task(CMD_CHANGES, argv[0], &c, &t, &e) < 0 ? -1 : task_discard(&c, &t, &o, &trash, &e);
	progress_end();
	if (rc < 0)
		return say_error(&e);
	rest_tell_branch(&c, &t);
	if (json)
		return json_print(json_pack("{s:o, s:o}", "task", json_text(t.name), "trash",
			trash ? json_text(trash) : json_null()));
	if (!say_is_heard())
		return 0;
	if (!trash)
		return say_done("task '%s' is discarded; there was no work in it", t.name), 0;
	say_done("task '%s' is discarded; its work stays in %s for %d days", t.name, trash, TASK_TRASH_DAYS);
	say_hint("garth undo %s", t.name);
	return 0;
}
