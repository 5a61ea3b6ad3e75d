#include <unistd.h>

#include "base/alloc.h"
#include "base/path.h"
#include "cli/cmd.h"
#include "cli/say.h"
#include "cli/session.h"
#include "sys/fd.h"
#include "task/disk.h"
#include "task/end.h"

/* What the command line says of the network. */
struct asked_net {
	const char *mode;
	struct strvec allow;
};

/* A file that grew too large kills without a word. */
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

static int exec_in(const char *name, const struct strvec *env, const struct asked_net *net, bool weaker,
	char *const *argv)
{
	struct session_opts o = { .env = env, .walls.allow_weaker = weaker };
	struct terminal_result r = { .end = TERMINAL_EXIT };
	auto_context c = { .home.fd = -1 };
	struct err e = ERR_INIT;
	auto_task t = { 0 };
	char *shell[] = { NULL, NULL };
	int rc;

	if (context_open(&c, &e) < 0 || task_find(&c, name, &t, &e) < 0 || session_configure(&c, &t, &e) < 0)
		return say_error(&e);
	if (t.strict && weaker)
		return err_set(&e, ERR_USAGE,
			       "task '%s' was made with --strict-isolation and never runs weaker", name),
		       say_error(&e);
	if (!argv) {
		shell[0] = path_within(c.shell, "/usr") || path_within(c.shell, "/bin") ? c.shell : "/bin/sh";
		argv = shell;
	}
	o.agent = config_agent_by_program(&c.config, argv[0]);
	if (session_network(&c, &t, net->mode, &net->allow, &o, &e) < 0)
		return say_error(&e);
	rc = session_exec(&c, &t, &o, argv, &r, &e);
	network_release(&o.net);
	task_judge_again(&c, &t);
	if (rc < 0) {
		err_wrap(&e, "task '%s'", name);
		return say_error(&e);
	}
	tell_killed(&c, &t, r.exit_code);
	return r.exit_code;
}

int cmd_exec(int argc, char **argv)
{
	struct strvec env = STRVEC_INIT;
	struct asked_net net = { 0 };
	bool weaker = false;
	const struct opt opts[] = {
		{ 'e', "env", OPT_LIST, &env, "VAR[=VAL]", "pass a variable in" },
		{ 0, "net", OPT_STR, &net.mode, "MODE", "none, allow or host, where the task is stopped" },
		{ 0, "allow", OPT_LIST, &net.allow, "HOST",
			"let it reach this host, where the task is stopped" },
		{ 0, "allow-weaker", OPT_FLAG, &weaker, NULL, "run even where the kernel lacks a wall" },
		OPT_END,
	};
	struct cmd_line l = { "exec", opts, 2, -1, true, 0, 0 };
	struct err e = ERR_INIT;
	int words, rest, code;
	char **behind;

	CMD_PARSE(&l, argc, argv);
	/* options may stand on both sides of the task's name */
	behind = argv + l.rest + 1;
	if (opt_parse(opts, argc - l.rest - 1, behind, true, &words, &rest, &e) < 0)
		return say_error(&e);
	if (!behind[rest])
		return err_set(&e, ERR_USAGE, "no command given"),
		       err_hint(&e, "garth shell %s", argv[l.rest]), say_error(&e);
	code = exec_in(argv[l.rest], &env, &net, weaker, behind + rest);
	strvec_release(&env);
	strvec_release(&net.allow);
	return code;
}

int cmd_shell(int argc, char **argv)
{
	struct asked_net net = { 0 };
	const struct opt opts[] = {
		{ 0, "net", OPT_STR, &net.mode, "MODE", "none, allow or host, where the task is stopped" },
		{ 0, "allow", OPT_LIST, &net.allow, "HOST",
			"let it reach this host, where the task is stopped" },
		OPT_END,
	};
	struct cmd_line l = { "shell", opts, 1, 1, false, 0, 0 };
	struct err e = ERR_INIT;
	const struct strvec none = STRVEC_INIT;
	int code;

	CMD_PARSE(&l, argc, argv);
	code = exec_in(argv[0], &none, &net, false, NULL);
	strvec_release(&net.allow);
	return code;
}
