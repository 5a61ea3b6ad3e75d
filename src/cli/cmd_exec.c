#include <stdlib.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/path.h"
#include "cli/cmd.h"
#include "cli/exec.h"
#include "cli/say.h"
#include "cli/session.h"
#include "sys/fd.h"
#include "task/agent_name.h"
#include "task/directory.h"
#include "task/disk_limit.h"
#include "task/program.h"
#include "task/verdict.h"
#include "runtime/choose_network.h"

/* As a shell, and the jail's first process, report it. */
#define EXIT_NOT_FOUND 127

/* A process that exceeds the file size limit is killed without a message. */
static void tell_killed(struct context *c, const struct task *t, int exit_code)
{
	struct err ignored = ERR_INIT;
	auto_fd dir = -1;
	auto_str why = NULL;

	if (home_task_dir(&c->home, t->id, &dir, &ignored) < 0)
		return;
	why = disk_explain(exit_code, disk_max(&c->config, dir, (uint64_t)t->disk), t->name);
	if (why)
		say_warning("%s", why);
}

/* What is shown is chosen when a task starts: a program in another place is not there in one that runs. */
static void tell_not_shown(const struct context *c, const struct task *t, const char *program, int exit_code)
{
	auto_str path = exit_code == EXIT_NOT_FOUND ? program_find(program) : NULL;
	auto_str real = path ? canonicalize_file_name(path) : NULL, line = NULL;

	if (!real || program_path_is_shown(c, real))
		return;
	say_warning("program '%s' is '%s', which task '%s' is not shown: it was started without it", program,
		path, t->name);
	line = program_line_for(c, real);
	if (line)
		say_hint("%s    # in %s, before the task starts again", line,
			c->config.path ? c->config.path : "the configuration");
}

/* Finds the agent, to give it what `garth run` gives it: named by --agent, by its program, or, for a shell,
 * the task's agent. */
static int find_agent(struct context *c, const struct task *t, const char *asked, const char *program,
	const struct config_agent **ret, struct err *e)
{
	struct err ignored = ERR_INIT;
	auto_str own = NULL;
	auto_fd dir = -1;

	if (asked)
		return config_agent_find(&c->config, asked, ret, e);
	*ret = program ? config_agent_by_program(&c->config, program) : NULL;
	if (!program && !home_task_dir(&c->home, t->id, &dir, &ignored) && (own = agent_name_load(dir)))
		*ret = config_agent_by_name(&c->config, own);
	return 0;
}

int exec_in_task(const char *name, const struct exec_opts *x, char *const *argv)
{
	struct run_opts o = {
		.env = &x->env, .walls.allow_weaker = x->weaker, .own_session = x->own_session
	};
	struct terminal_result r = { .end = TERMINAL_EXIT };
	auto_context c = { .home.fd = -1 };
	struct err e = ERR_INIT;
	auto_task t = { 0 };
	auto_str cwd = NULL;
	char *shell[] = { NULL, NULL };
	int rc;

	if (cmd_open_task(CMD_CHANGES, name, &c, &t, &e) < 0 || runtime_configure(&c, &t, &e) < 0)
		return say_error(&e);
	if (t.strict && x->weaker)
		return err_set(&e, ERR_USAGE,
			       "task '%s' was made with --strict-isolation and never runs weaker", name),
		       say_error(&e);
	if (find_agent(&c, &t, x->agent, argv ? argv[0] : NULL, &o.agent, &e) < 0)
		return say_error(&e);
	if (!argv) {
		shell[0] = path_within(c.shell, "/usr") || path_within(c.shell, "/bin") ? c.shell : "/bin/sh";
		argv = shell;
	}
	if (runtime_network(&c, &t, x->mode, &x->allow, &o, &e) < 0)
		return say_error(&e);
	o.cwd = cwd = directory_of_task(&c, &t);
	rc = session_exec(&c, &t, &o, argv, &r, &e);
	network_release(&o.net);
	task_judge_again(&c, &t);
	if (rc < 0) {
		err_wrap(&e, "task '%s'", name);
		return say_error(&e);
	}
	tell_killed(&c, &t, r.exit_code);
	tell_not_shown(&c, &t, argv[0], r.exit_code);
	return r.exit_code;
}

static void exec_opts_release(struct exec_opts *x)
{
	strvec_release(&x->allow);
	strvec_release(&x->env);
}

int cmd_exec(int argc, char **argv)
{
	__attribute__((cleanup(exec_opts_release))) struct exec_opts x = { 0 };
	const struct opt opts[] = {
		{ 'e', "env", OPT_LIST, &x.env, "VAR[=VAL]", "set a variable, or pass in its current value",
			WORD_VARIABLE },
		{ 0, "net", OPT_STR, &x.mode, "MODE", "network if the task is stopped: none, allow or host",
			WORD_NETWORK },
		{ 0, "allow", OPT_LIST, &x.allow, "HOST", "let CMD reach this host, if the task is stopped",
			WORD_TEXT },
		{ 0, "agent", OPT_STR, &x.agent, "NAME", "use this agent's log-in, hosts and variables",
			WORD_AGENT },
		{ 0, "allow-weaker", OPT_FLAG, &x.weaker, NULL, "run even if a part of the jail is missing" },
		OPT_END,
	};
	struct cmd_line l = { "exec", opts, 2, -1, true, 0, 0 };
	struct err e = ERR_INIT;
	int words, rest;
	char **behind;

	CMD_PARSE(&l, argc, argv);
	/* options may be before and after the task's name */
	behind = argv + l.rest + 1;
	if (cmd_parse_options(opts, argc - l.rest - 1, behind, true, &words, &rest, &e) < 0)
		return err_hint(&e, "garth exec --help"), say_error(&e);
	if (!behind[rest])
		return err_set(&e, ERR_USAGE, "no command given"),
		       err_hint(&e, "garth shell %s", argv[l.rest]), say_error(&e);
	return exec_in_task(argv[l.rest], &x, behind + rest);
}

int cmd_shell(int argc, char **argv)
{
	__attribute__((cleanup(exec_opts_release))) struct exec_opts x = { 0 };
	const struct opt opts[] = {
		{ 0, "net", OPT_STR, &x.mode, "MODE", "network if the task is stopped: none, allow or host",
			WORD_NETWORK },
		{ 0, "allow", OPT_LIST, &x.allow, "HOST", "let CMD reach this host, if the task is stopped",
			WORD_TEXT },
		{ 0, "agent", OPT_STR, &x.agent, "NAME", "use this agent's log-in, hosts and variables",
			WORD_AGENT },
		OPT_END,
	};
	struct cmd_line l = { "shell", opts, 1, 1, false, 0, 0 };
	struct err e = ERR_INIT;

	CMD_PARSE(&l, argc, argv);
	return exec_in_task(argv[0], &x, NULL);
}
