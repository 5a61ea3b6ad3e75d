#include <stdio.h>

#include "cli/cmd.h"
#include "cli/json.h"
#include "cli/say.h"
#include "task/life.h"
#include "workspace/export.h"

static void report(const struct task *t, const char *dir, const struct export_report *r)
{
	for (size_t i = 0; i < r->left_out.n; i++)
		say_warning("left out, not for the host: %s", r->left_out.v[i]);
	for (size_t i = 0; i < r->leaving.n; i++)
		say_warning("this link leads out of the tree: %s", r->leaving.v[i]);
	if (say_is_heard())
		say_done("%zu files and %zu links of task '%s' are in %s", r->files, r->links, t->name, dir);
}

int cmd_export(int argc, char **argv)
{
	bool json = false;
	const struct opt opts[] = { { 0, "json", OPT_FLAG, &json, NULL, "print JSON" }, OPT_END };
	struct cmd_line l = { "export", opts, 2, 2, false, 0, 0 };
	auto_export_report r = { 0 };
	auto_context c = { .home.fd = -1 };
	struct err e = ERR_INIT;
	auto_task t = { 0 };

	CMD_PARSE(&l, argc, argv);
	if (cmd_open_task(CMD_LOOKS, argv[0], &c, &t, &e) < 0)
		return say_error(&e);
	if (life_is_running(&t))
		say_warning("task '%s' is %s: its files may change while they are copied", t.name, t.state);
	if (task_export(&c, &t, argv[1], &r, &e) < 0)
		return say_error(&e);
	if (json)
		return json_print(json_pack("{s:o, s:o, s:I, s:I, s:I, s:o, s:o}", "task", json_text(t.name),
			"directory", json_text(argv[1]), "file_count", (json_int_t)r.files, "link_count",
			(json_int_t)r.links, "bytes", (json_int_t)r.bytes, "left_out", json_list(&r.left_out),
			"links_outside", json_list(&r.leaving)));
	report(&t, argv[1], &r);
	return 0;
}
