#include <stdio.h>

#include "base/alloc.h"
#include "cli/cmd.h"
#include "cli/json.h"
#include "cli/progress.h"
#include "cli/rest.h"
#include "cli/say.h"
#include "task/archive.h"

int cmd_archive(int argc, char **argv)
{
	bool json = false;
	const struct opt opts[] = {
		{ 0, "json", OPT_FLAG, &json, NULL, "print JSON" },
		OPT_END,
	};
	struct cmd_line l = { "archive", opts, 1, 1, false, 0, 0 };
	auto_context c = { .home.fd = -1 };
	struct err e = ERR_INIT;
	auto_str path = NULL;
	auto_task t = { 0 };
	int rc;

	CMD_PARSE(&l, argc, argv);
	if (cmd_open_task(CMD_CHANGES, argv[0], &c, &t, &e) < 0)
		return say_error(&e);
	progress_begin("packing");
	rc = task_archive(&c, &t, &path, &e);
	progress_end();
	if (rc < 0)
		return say_error(&e);
	rest_tell_branch(&c, &t);
	if (json)
		return json_print(
			json_pack("{s:o, s:o}", "task", json_text(t.name), "archive", json_text(path)));
	printf("%s\n", path);
	if (!say_is_heard())
		return 0;
	say_done("task '%s' is archived, with all that was in it", t.name);
	say_hint("garth undo %s", t.name);
	return 0;
}
