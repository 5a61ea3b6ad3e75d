#include <unistd.h>

#include "agent/agent.h"
#include "base/alloc.h"
#include "cli/cmd.h"
#include "cli/progress.h"
#include "cli/say.h"
#include "cli/session.h"
#include "config/config.h"
#include "jail/probe.h"

struct run_opts {
	struct task_spec task;
	struct session_opts session;
	struct strvec env, allow;
	const char *net, *agent;
	bool detach, weaker, quiet;
};

static int complete(struct context *c, struct run_opts *o, char **argv, struct err *e)
{
	auto_strvec env = STRVEC_INIT;

	if (o->task.strict && o->weaker)
		return err_set(
			e, ERR_USAGE, "--strict-isolation never runs weaker: leave --allow-weaker out");
	if (o->task.on_dirty && strcmp(o->task.on_dirty, "fail") && strcmp(o->task.on_dirty, "commit") &&
		strcmp(o->task.on_dirty, "keep"))
		return err_set(
			e, ERR_USAGE, "--on-dirty is fail, commit or keep, not '%s'", o->task.on_dirty);
	if (o->agent && !(o->session.agent = config_agent_by_name(&c->config, o->agent)))
		return err_set(e, ERR_NOTFOUND, "there is no agent '%s' in the configuration", o->agent);
	if (!o->agent)
		o->session.agent = config_agent_by_program(&c->config, argv[0]);
	if (network_choose(&c->config, o->session.agent, o->net, &o->allow, &o->session.net, e) < 0)
		return -1;
	if (agent_environment(&c->config, NULL, NULL, &o->env, NULL, &env, e) < 0)
		return -1;
	o->session.walls.allow_weaker = o->weaker;
	o->session.env = &o->env;
	o->session.detach = o->detach;
	o->session.quiet = o->quiet;
	o->task.program = argv[0];
	return 0;
}

/* A jail that could not be entered: the kernel's part in it is looked up only now. */
static void explain(struct err *e)
{
	struct probe p;

	if (e->kind != ERR_START || e->hint[0])
		return;
	probe_kernel(&p);
	for (int i = 0; i < p.n; i++)
		if (!p.rows[i].ok && p.rows[i].required) {
			err_wrap(e, "%s: %s", p.rows[i].name, p.rows[i].found);
			err_hint(e, "%s", *p.rows[i].enable ? p.rows[i].enable : "garth doctor");
			return;
		}
}

int cmd_run(int argc, char **argv)
{
	struct run_opts o = { 0 };
	const struct opt opts[] = {
		{ 't', "task", OPT_STR, &o.task.name, "NAME", "the task's name; else one is made of CMD" },
		{ 'b', "base", OPT_STR, &o.task.rev, "REV", "start from this commit; else HEAD" },
		{ 0, "backend", OPT_STR, &o.task.backend, "NAME", "overlay or worktree" },
		{ 0, "net", OPT_STR, &o.net, "MODE", "none, allow (by a list of hosts) or host" },
		{ 0, "allow", OPT_LIST, &o.allow, "HOST",
			"let it reach this host, as in *.crates.io or db.local:5432" },
		{ 0, "agent", OPT_STR, &o.agent, "NAME", "bring this agent's log-in; else CMD tells" },
		{ 0, "on-dirty", OPT_STR, &o.task.on_dirty, "WHAT",
			"uncommitted work at the end: fail, commit or keep" },
		{ 'd', "detach", OPT_FLAG, &o.detach, NULL, "run in the background" },
		{ 'e', "env", OPT_LIST, &o.env, "VAR[=VAL]", "pass a variable in" },
		{ 'q', "quiet", OPT_FLAG, &o.quiet, NULL, "say nothing but errors" },
		{ 0, "strict-isolation", OPT_FLAG, &o.task.strict, NULL,
			"no borrowed objects, never weaker walls" },
		{ 0, "allow-weaker", OPT_FLAG, &o.weaker, NULL, "run even where the kernel lacks a wall" },
		OPT_END,
	};
	struct cmd_line l = { "run", opts, 1, -1, true, 0, 0 };
	struct terminal_result r = { .end = TERMINAL_EXIT };
	auto_context c = { .home.fd = -1 };
	struct err e = ERR_INIT;
	auto_task t = { 0 };
	auto_str cwd = NULL;
	int rc;

	CMD_PARSE(&l, argc, argv);
	if (context_open(&c, &e) < 0 || complete(&c, &o, argv + l.rest, &e) < 0)
		return say_error(&e);
	cwd = get_current_dir_name();
	o.task.dir = cwd ? cwd : ".";
	progress_begin("making the workspace");
	rc = task_create(&c, &o.task, &t, &e);
	progress_end();
	if (rc < 0)
		return say_error(&e);
	if (session_run(&c, &t, &o.session, argv + l.rest, &r, &e) < 0) {
		explain(&e);
		err_wrap(&e, "task '%s'", t.name);
		return say_error(&e);
	}
	if (o.detach)
		printf("%s\n", t.name);
	session_report(&c, t.name, &r, o.quiet);
	strvec_release(&o.env);
	strvec_release(&o.allow);
	network_release(&o.session.net);
	return r.end == TERMINAL_DETACHED ? 0 : r.exit_code;
}
