#include <jansson.h>
#include <unistd.h>

#include "base/alloc.h"
#include "cli/added_layers.h"
#include "cli/approve.h"
#include "cli/checkout_changes.h"
#include "cli/cmd.h"
#include "cli/json.h"
#include "cli/progress.h"
#include "cli/say.h"
#include "cli/show_submodules.h"
#include "runtime/with_changes.h"

static int check(const struct task_spec *s, bool with_changes, struct err *e)
{
	if (s->empty && with_changes)
		return err_set(e, ERR_USAGE,
			"--empty and --with-changes do not go together: there is no repository");
	if (s->strict && s->weaker)
		return err_set(
			e, ERR_USAGE, "--strict-isolation never runs weaker: leave --allow-weaker out");
	return 0;
}

int cmd_new(int argc, char **argv)
{
	auto_add_layers bring = { 0 };
	struct task_spec spec = { .program = "task", .approve = approve_on_terminal };
	bool json = false, with_changes = false;
	auto_strvec submodules = STRVEC_INIT;
	const struct opt opts[] = {
		{ 'b', "base", OPT_STR, &spec.rev, "REV", "start from this commit, not from HEAD",
			WORD_REVISION },
		{ 0, "empty", OPT_FLAG, &spec.empty, NULL,
			"no repository: an empty workspace in the same jail" },
		{ 0, "backend", OPT_STR, &spec.backend, "NAME",
			"kind of workspace: overlay, worktree or clone", WORD_BACKEND },
		{ 0, "submodule", OPT_LIST, &submodules, "PATH",
			"let the task use this submodule; or all, or none", WORD_DIRECTORY },
		{ 0, "strict-isolation", OPT_FLAG, &spec.strict, NULL,
			"borrow no git objects, never run in a weaker jail" },
		{ 0, "allow-weaker", OPT_FLAG, &spec.weaker, NULL,
			"without namespaces: a clone on Landlock alone" },
		{ 0, "with-changes", OPT_FLAG, &with_changes, NULL,
			"copy the checkout's uncommitted changes to the task" },
		{ 0, "no-setup", OPT_FLAG, &bring.no_setup, NULL, "without the files of workspace.setup" },
		{ 0, "json", OPT_FLAG, &json, NULL, "print the task as JSON" },
		OPT_END,
	};
	struct cmd_line l = { "new", opts, 1, 1, false, 0, 0 };
	auto_context c = { .home.fd = -1 };
	struct err e = ERR_INIT;
	auto_left_behind changes = LEFT_BEHIND_INIT;
	auto_strvec notes = STRVEC_INIT;
	auto_task t = { 0 };
	auto_str cwd = NULL;
	int rc;

	CMD_PARSE(&l, argc, argv);
	if (check(&spec, with_changes, &e) < 0 || context_open(&c, &e) < 0)
		return say_error(&e);
	cwd = get_current_dir_name();
	spec.dir = cwd ? cwd : ".";
	spec.name = argv[0];
	spec.notes = &notes;
	spec.submodules = submodules;
	/* it takes as long as git status, and its answer is not shown otherwise */
	if (!with_changes && !json && !say_is_quiet())
		left_behind_watch(&changes, &spec);
	bring.with_changes = with_changes;
	added_layers_begin(&bring, &spec, json);
	progress_begin("making the workspace");
	rc = task_create(&c, &spec, &t, &e);
	progress_end();
	if (rc < 0)
		return say_error(&e);
	say_warnings(&notes);
	cmd_made_task(&c, &t);
	added_layers_tell(&bring, json);
	show_submodules_missing(&c, &t);
	if (!with_changes)
		checkout_changes_tell(&changes, &t, &bring.included.not_ignored);
	else if (with_changes_copy(&c, &t, spec.dir, &e) < 0) {
		with_changes_drop(&c, &t);
		return say_error(&e);
	}
	if (json)
		return json_print(json_task(&t));
	printf("%s\n", t.name);
	say_done("task '%s' is made (%s)", t.name, t.backend);
	say_hint("garth shell %s", t.name);
	return 0;
}
