#include <stdio.h>

#include "base/alloc.h"
#include "cli/cmd.h"
#include "cli/json.h"
#include "cli/say.h"
#include "git/ref.h"
#include "runtime/rename.h"

static void tell(struct context *c, const struct task *t, const char *old)
{
	auto_str host = backend_of(t)->landlock_only ? NULL : workspace_host_dir(&c->home, t);

	if (backend_of(t)->has_git)
		say_done("task '%s' is '%s' now, on branch %s", old, t->name, ref_short(t->branch));
	else
		say_done("task '%s' is '%s' now", old, t->name);
	if (host)
		say_state("its files stay in %s", host);
	cmd_made_task(c, t);
	say_hint("garth undo %s", t->name);
}

int cmd_rename(int argc, char **argv)
{
	bool json = false;
	const struct opt opts[] = { { 0, "json", OPT_FLAG, &json, NULL, "print the task as JSON" }, OPT_END };
	struct cmd_line l = { "rename", opts, 2, 2, false, 0, 0 };
	auto_strvec warnings = STRVEC_INIT;
	auto_context c = { .home.fd = -1 };
	struct err e = ERR_INIT;
	auto_str old = NULL;
	auto_task t = { 0 };

	CMD_PARSE(&l, argc, argv);
	if (cmd_open_task(CMD_CHANGES, argv[0], &c, &t, &e) < 0)
		return say_error(&e);
	old = xstrdup(t.name);
	if (runtime_rename(&c, &t, argv[1], &warnings, &e) < 0)
		return say_error(&e);
	say_warnings(&warnings);
	if (json)
		return json_task_now(&c, t.id);
	tell(&c, &t, old);
	return 0;
}
