#include <stdio.h>

#include "base/size.h"
#include "cli/cmd.h"
#include "cli/json.h"
#include "cli/progress.h"
#include "cli/say.h"
#include "task/life.h"
#include "workspace/export.h"

static void report(const struct task *t, const char *dir, const struct export_report *r)
{
	char files[COUNT_TEXT_MAX], links[COUNT_TEXT_MAX];

	if (r->nleft_out)
		say_warning_list(&r->left_out, "left out, not for the host: %s path%s",
			count_text(r->nleft_out, files), r->nleft_out == 1 ? "" : "s");
	if (r->nleaving)
		say_warning_list(&r->leaving, "%s link%s out of the tree", count_text(r->nleaving, links),
			r->nleaving == 1 ? " leads" : "s lead");
	say_done("%s file%s and %s link%s of task '%s' are in %s", count_text(r->files, files),
		r->files == 1 ? "" : "s", count_text(r->links, links), r->links == 1 ? "" : "s", t->name,
		dir);
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
	progress_begin("copying");
	if (task_export(&c, &t, argv[1], &r, &e) < 0)
		return say_error(&e);
	progress_end();
	if (json)
		return json_print(json_pack("{s:o, s:o, s:I, s:I, s:I, s:o, s:o}", "task", json_text(t.name),
			"directory", json_text(argv[1]), "file_count", (json_int_t)r.files, "link_count",
			(json_int_t)r.links, "bytes", (json_int_t)r.bytes, "left_out", json_list(&r.left_out),
			"links_outside", json_list(&r.leaving)));
	report(&t, argv[1], &r);
	return 0;
}
