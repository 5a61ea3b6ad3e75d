#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "agent/agent.h"
#include "base/alloc.h"
#include "base/duration.h"
#include "base/nearest.h"
#include "base/yaml.h"
#include "cli/added_layers.h"
#include "cli/approve.h"
#include "cli/checkout_changes.h"
#include "cli/cmd.h"
#include "cli/exec.h"
#include "cli/json.h"
#include "cli/ports.h"
#include "cli/progress.h"
#include "cli/run_agent.h"
#include "cli/run_agents.h"
#include "cli/say.h"
#include "cli/session.h"
#include "cli/show_submodules.h"
#include "cli/tmux.h"
#include "config/config.h"
#include "config/taskfile.h"
#include "config/values.h"
#include "git/remote.h"
#include "jail/userns.h"
#include "keeper/keeper.h"
#include "push/push.h"
#include "runtime/choose_network.h"
#include "runtime/unstarted.h"
#include "runtime/with_changes.h"
#include "sys/fd.h"
#include "task/directory.h"
#include "task/here.h"
#include "task/own_config.h"
#include "task/own_limits.h"
#include "task/program.h"
#include "task/repository_config.h"

struct run_line {
	bool with_changes;
	struct add_layers bring;
	struct task_spec task;
	struct run_opts session;
	struct taskfile file; /* the task file, if one is run */
	struct buf text;
	char *dir;
	struct strvec env, allow, ports, limits, notes;
	struct strvec words; /* the command, if garth made it of a prompt */
	char *const *argv;   /* the command that is run */
	char *default_agent; /* agents.default of the repository's file */
	uint16_t port[KEEPER_PORTS_MAX + 1];
	const char *net, *agent, *path; /* path: the task file's; NULL: none */
	const char *agents;             /* --agents */
	char **rest;                    /* the words behind the options */
	const char *timeout, *cwd;
	const char *tickets;           /* how many the task may have */
	const char *in;                /* a task that exists: run beside what runs there */
	char *place;                   /* where the command starts: directory.h */
	char *missing;                 /* where the user is, if the task has no such directory */
	const struct context *context; /* for check_base */
	bool detach, tmux, weaker, quiet, json;
};

static void run_line_release(struct run_line *o)
{
	strvec_release(&o->task.submodules);
	strvec_release(&o->env);
	strvec_release(&o->allow);
	strvec_release(&o->ports);
	strvec_release(&o->limits);
	strvec_release(&o->notes);
	strvec_release(&o->words);
	free(o->default_agent);
	free(o->place);
	free(o->missing);
	network_release(&o->session.net);
	taskfile_release(&o->file);
	buf_release(&o->text);
	free(o->dir);
	add_layers_release(&o->bring);
}

/* The repository's file may name the agent. */
static int find_default_agent(struct context *c, struct run_line *o, struct err *e)
{
	auto_buf text = BUF_INIT(REPO_SETTINGS_MAX + 1);
	auto_str cwd = get_current_dir_name();
	const struct config_agent *agent;
	auto_config config = { 0 };
	auto_repo r = { 0 };
	bool there = false;

	if (o->agent || o->task.empty)
		return 0;
	if (here_open(c, cwd ? cwd : ".", o->task.rev ? o->task.rev : "HEAD", &r, e) < 0 ||
		repository_config_load(c, &r, &config, &there, &text, e) < 0)
		return -1;
	if (!there || !config.default_agent)
		return 0;
	if (config_agent_find(&config, config.default_agent, &agent, e) < 0)
		return err_wrap(e, "%s", config_origin(&config, "agents.default", NULL));
	o->agent = o->default_agent = xstrdup(config.default_agent);
	return 0;
}

/* Makes the command of a prompt, or of nothing. */
static int ask_agent(struct context *c, struct run_line *o, const char *prompt, struct err *e)
{
	bool terminal = isatty(0) && isatty(1);
	struct run_agent a = { .prompt = prompt,
		.headless = !o->tmux && (o->detach ? prompt != NULL : !terminal),
		.quiet = o->quiet };

	if (find_default_agent(c, o, e) < 0)
		return -1;
	a.name = o->agent;
	o->task.title = prompt;
	return run_agent_words(c, &a, &o->words, e);
}

/* A word such as task.yaml is a task file; no further words may follow. */
static bool is_file(char **argv)
{
	const char *dot = strrchr(argv[0], '.');

	return dot && (!strcmp(dot, ".yaml") || !strcmp(dot, ".yml")) &&
	       (!argv[1] || access(argv[0], X_OK) < 0);
}

static int check_file(char **argv, struct err *e)
{
	if (!argv[1])
		return 0;
	err_set(e, ERR_USAGE, "'%s' is a task file, and nothing can follow it", argv[0]);
	return err_hint(e, "garth run OPTIONS %s", argv[0]);
}

static const char *either(const char *asked, const char *otherwise)
{
	return asked ? asked : otherwise;
}

/* Options on the command line override the task file. */
static int load_file(struct context *c, struct run_line *o, const char *path, struct err *e)
{
	struct taskfile *f = &o->file;
	auto_str real = realpath(path, NULL);

	o->text = (struct buf)BUF_INIT(YAML_MAX_BYTES);
	if (!real || read_file(AT_FDCWD, path, &o->text, e) < 0)
		return real ? -1 : err_set(e, ERR_NOTFOUND, "there is no task file '%s'", path);
	if (taskfile_apply(&c->config, buf_str(&o->text), o->text.len, path, f, e) < 0)
		return -1;
	*strrchr(real, '/') = '\0';
	o->task.empty = !f->project_dir;
	if (f->project_dir)
		o->dir = *f->project_dir == '/' ? xstrdup(f->project_dir)
						: xasprintf("%s/%s", real, f->project_dir);
	if (o->dir && access(o->dir, X_OK) < 0)
		return err_sys(e, "%s:%u:%u: cannot open '%s', the agent.project_dir", path,
			       f->project_at.line, f->project_at.column, o->dir),
		       e->kind = ERR_NOTFOUND, -1;
	o->path = path;
	o->task.name = either(o->task.name, f->name);
	o->task.rev = either(o->task.rev, f->base);
	o->task.backend = either(o->task.backend, f->backend);
	o->task.strict |= f->strict;
	o->agent = either(o->agent, f->agent);
	for (size_t i = 0; i < f->env.n; i++)
		strvec_push(&o->env, f->env.v[i]);
	o->session.resume = &f->resume;
	o->session.timeout = f->timeout;
	o->session.push = either(o->session.push, f->push);
	return 0;
}

/* Its own layer has it, as one of a task file would. */
static int take_tickets(struct context *c, const struct run_line *o, struct err *e)
{
	auto_str text = NULL;

	if (!o->tickets)
		return 0;
	if (!*o->tickets || strspn(o->tickets, "0123456789") != strlen(o->tickets) || strlen(o->tickets) > 3)
		return err_set(
			e, ERR_USAGE, "--tickets must be a number from 0 to 999, not '%s'", o->tickets);
	text = own_tickets_text(o->tickets);
	return config_apply(&c->config, text, strlen(text), NULL, e);
}

static int take_limits(struct context *c, struct run_line *o, struct err *e)
{
	if (o->timeout && (!duration_parse(o->timeout, &o->session.timeout) || !o->session.timeout))
		return err_set(e, ERR_USAGE,
			"--timeout must be a time above 0, such as 90s, 15m, 2h or 1d, not '%s'", o->timeout);
	return own_limits_try(&c->config, &o->limits, e) < 0 ? -1 : take_tickets(c, o, e);
}

static int choose_network(struct context *c, struct run_line *o, struct err *e)
{
	network_release(&o->session.net);
	if (runtime_choose_network(c, o->net, &o->allow, &o->session, e) < 0)
		return -1;
	o->bring.offline = !strcmp(o->session.net.mode, NETWORK_NONE);
	if (!o->weaker || userns_works())
		return 0;
	if (runtime_network_landlock_only(&o->session, e) < 0)
		return -1;
	return !o->ports.n ? 0
			   : err_set(e, ERR_REFUSED,
				     "a port of the task's own needs namespaces, which cannot be made here");
}

static int choose_agent(struct context *c, struct run_line *o, const char *program, struct err *e)
{
	if (o->agent)
		return config_agent_find(&c->config, o->agent, &o->session.agent, e);
	o->session.agent = config_agent_by_program(&c->config, program);
	return 0;
}

/* After the task was made: with the repository's layer, some of what was chosen may be stricter. */
static int choose_again(
	struct context *c, struct run_line *o, const struct task *t, char *const *argv, struct err *e)
{
	bool changed = false;

	if (runtime_reconfigure(c, t, &changed, e) < 0)
		return -1;
	if (!changed)
		return 0;
	return choose_agent(c, o, argv[0], e) < 0 ? -1 : choose_network(c, o, e);
}

static int complete(struct context *c, struct run_line *o, char *const *argv, struct err *e)
{
	auto_strvec env = STRVEC_INIT;
	char meant[NEAREST_TEXT_MAX];
	struct keys keys;

	if (o->task.strict && o->weaker)
		return err_set(
			e, ERR_USAGE, "--strict-isolation never runs weaker: leave --allow-weaker out");
	if (o->task.on_dirty && strcmp(o->task.on_dirty, "fail") && strcmp(o->task.on_dirty, "commit") &&
		strcmp(o->task.on_dirty, "keep"))
		return err_set(e, ERR_USAGE, "--on-dirty is fail, commit or keep, not '%s'%s",
			o->task.on_dirty,
			nearest_of(o->task.on_dirty, (const char *const[]){ "fail", "commit", "keep", NULL },
				meant));
	if (o->task.empty && (o->task.rev || o->task.backend || o->session.push || o->task.on_dirty))
		return err_set(e, ERR_USAGE,
			"a task without a repository has no base, no backend, nothing to push and nothing to commit");
	if (o->task.empty && o->cwd)
		return err_set(e, ERR_USAGE,
			"a task without a repository begins with no directories: leave --cwd out");
	if (session_keys(c, o->session.detach_keys, &keys, e) < 0 || take_limits(c, o, e) < 0)
		return -1;
	if (o->session.push && push_check_branch(&o->session.push, NULL, e) < 0)
		return err_wrap(e, "push");
	o->task.weaker = o->weaker;
	o->session.env = &o->env;
	if (choose_agent(c, o, argv[0], e) < 0 || choose_network(c, o, e) < 0)
		return -1;
	if (agent_environment(&c->config, NULL, NULL, &o->env, NULL, &env, e) < 0)
		return -1;
	if (o->ports.n > KEEPER_PORTS_MAX)
		return err_set(e, ERR_USAGE, "a task has at most %d ports", KEEPER_PORTS_MAX);
	for (size_t i = 0; i < o->ports.n; i++)
		if (ports_parse(o->ports.v[i], &o->port[i], e) < 0)
			return -1;
	if (o->ports.n)
		o->session.ports = o->port;
	o->session.walls.allow_weaker = o->weaker;
	o->detach |= o->tmux;
	o->session.detach = o->detach;
	o->session.quiet = o->quiet;
	o->task.program = argv[0];
	return 0;
}

/* Keeps the task file and the limits for as long as the task lives. */
static int keep_settings(struct context *c, const struct task *t, const struct run_line *o, struct err *e)
{
	auto_fd dir = -1;

	if (!o->text.len && !o->limits.n && !o->tickets)
		return 0;
	if (home_task_dir(&c->home, t->id, &dir, e) < 0 ||
		(o->text.len && own_config_keep_taskfile(dir, o->text.data, o->text.len, e) < 0) ||
		(o->tickets && own_config_keep_tickets(dir, o->tickets, e) < 0))
		return -1;
	return own_limits_set(dir, &o->limits, e);
}

/* Words that a shell did not join: `garth run fix the login`. */
static void hint_prompt(char *const *argv, struct err *e)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789,.-_";
	auto_buf text = BUF_INIT(200);

	if (e->kind != ERR_PROGRAM || *e->hint || !argv[1])
		return;
	for (size_t i = 0; argv[i]; i++) {
		if (argv[i][0] == '-' || strspn(argv[i], plain) != strlen(argv[i]))
			return;
		buf_printf(&text, "%s%s", i ? " " : "", argv[i]);
	}
	if (!text.overflow)
		err_hint(e, "garth run \"%s\"", buf_str(&text));
}

/* Before a task is made: where its command starts, and whether there is such a program. */
static int check_base(const struct repo *r, void *arg, struct err *e)
{
	struct run_line *o = arg;
	auto_str here = get_current_dir_name();
	const struct directory_choice d = {
		.here = o->cwd ? here : o->task.dir, .named = o->cwd, .uncommitted = o->with_changes
	};
	struct program_place p = {
		.repo = r, .uncommitted = o->with_changes, .is_agent = o->session.agent != NULL
	};

	if (r && directory_choose(r, &d, &o->place, &o->missing, e) < 0)
		return -1;
	o->session.cwd = o->place;
	p.cwd = o->place ? o->place : "";
	if (program_check(o->context, &p, o->argv[0], e) < 0) {
		hint_prompt(o->argv, e);
		return -1;
	}
	return 0;
}

/* Such an agent starts without a warning, and then every command that it runs fails. */
static void tell_sandbox(const struct run_line *o, char *const *argv)
{
	if (o->quiet || !agent_brings_sandbox(o->session.agent, argv))
		return;
	say_warning("%s brings a sandbox of its own, which cannot be made inside these walls: leave it off",
		o->session.agent->name);
	say_hint("garth run -- %s --dangerously-bypass-approvals-and-sandbox ...", argv[0]);
}

/* Checks the push's remote before the task is made, not only at its end. */
static int check_remote(struct context *c, const struct run_line *o, struct err *e)
{
	auto_str remote = NULL;
	auto_repo r = { 0 };

	if (!o->session.push)
		return 0;
	if (here_open(c, o->task.dir, o->task.rev ? o->task.rev : "HEAD", &r, e) < 0)
		return -1;
	return remote_require(&r, NULL, &remote, e);
}

static int make_task(struct context *c, struct run_line *o, struct task *ret, struct err *e)
{
	auto_str cwd = get_current_dir_name();
	auto_left_behind changes = LEFT_BEHIND_INIT;
	auto_buf missing = BUF_SMALL;
	int rc;

	o->task.dir = o->dir ? o->dir : cwd ? cwd : ".";
	o->task.approve = approve_on_terminal;
	o->task.notes = &o->notes;
	o->task.task_file = &o->text;
	if (check_remote(c, o, e) < 0)
		return -1;
	if (!o->with_changes && !o->quiet)
		left_behind_watch(&changes, &o->task);
	o->task.on_base = check_base;
	o->task.on_base_arg = o;
	o->context = c;
	o->bring.with_changes = o->with_changes;
	added_layers_begin(&o->bring, &o->task, o->quiet || o->json);
	progress_begin("making the workspace");
	rc = task_create(c, &o->task, ret, e);
	progress_end();
	if (rc < 0 && e->kind == ERR_NOTFOUND && o->path && o->task.rev && o->task.rev == o->file.base)
		err_wrap(e, "%s:%u:%u: base", o->path, o->file.base_at.line, o->file.base_at.column);
	if (!rc) {
		say_warnings(&o->notes);
		cmd_made_task(c, ret);
		added_layers_tell(&o->bring, o->quiet || o->json);
	}
	if (!rc && o->missing && !o->quiet)
		say_state("commit %.12s has no directory '%s': the task starts in its top directory",
			ret->base, say_one_line(&missing, o->missing));
	if (!rc && !o->quiet && backend_of(ret)->landlock_only)
		say_landlock_only();
	if (!rc && !o->quiet)
		show_submodules_missing(c, ret);
	if (!rc && o->with_changes && !o->task.empty) {
		rc = with_changes_copy(c, ret, o->task.dir, e);
		if (rc < 0)
			with_changes_drop(c, ret);
	} else if (!rc && !o->quiet) {
		checkout_changes_tell(&changes, ret, &o->bring.included.not_ignored);
	}
	return rc;
}

/* A task of that name is there: name the command that runs something in it. */
static int refuse_task(struct context *c, const struct run_line *o, struct err *e)
{
	struct err ignored = ERR_INIT;
	auto_task t = { 0 };

	if (e->kind == ERR_EXISTS && o->task.name && !task_find(c, o->task.name, &t, &ignored))
		err_hint(e, "garth exec %s -- ...", t.name);
	return say_error(e);
}

/* Prints the result when the command has ended or runs in the background; returns the exit code. */
static int tell_end(
	struct context *c, const struct run_line *o, const struct task *t, const struct terminal_result *r)
{
	if (o->detach && !o->json)
		printf("%s\n", t->name);
	if (o->tmux)
		tmux_show(t->name, o->quiet);
	else
		session_report(c, t, r, o->quiet || o->json);
	if (o->json && json_task_now(c, t->id))
		return 1;
	return r->end == TERMINAL_DETACHED ? 0 : r->exit_code;
}

/* What is run: the words, what a task file says, or an agent. */
static int choose_command(struct context *c, struct run_line *o, char **words, struct err *e)
{
	o->argv = words;
	if (!words[0] || o->agents || run_agent_is_prompt(words)) {
		if (ask_agent(c, o, words[0], e) < 0)
			return -1;
		o->argv = strvec_argv(&o->words);
	} else if (is_file(words)) {
		if (check_file(words, e) < 0 || load_file(c, o, words[0], e) < 0)
			return -1;
		o->argv = strvec_argv(&o->file.command);
	}
	return 0;
}

/* A second agent in one workspace: the user named the task, and it gets a session of its own. */
static int run_in(const struct run_line *o, struct err *e)
{
	const struct exec_opts x = { .mode = o->net,
		.agent = o->agent,
		.allow = o->allow,
		.env = o->env,
		.weaker = o->weaker,
		.own_session = true };
	const struct task_spec *t = &o->task;

	if (t->name || t->rev || t->backend || t->submodules.n || t->empty || t->on_dirty || t->strict ||
		o->session.push || o->with_changes || o->detach || o->tmux || o->json || o->timeout ||
		o->cwd || o->limits.n || o->tickets || o->ports.n || o->path) {
		err_set(e, ERR_USAGE,
			"with --in nothing is made: only --net, --allow, --agent, --env and --allow-weaker go with it");
		return say_error(e);
	}
	return exec_in_task(o->in, &x, o->argv);
}

static int run(struct run_line *o, char **words)
{
	struct terminal_result r = { .end = TERMINAL_EXIT };
	auto_context c = { .home.fd = -1 };
	struct err e = ERR_INIT;
	auto_task t = { 0 };

	if (context_open(&c, &e) < 0 || choose_command(&c, o, words, &e) < 0)
		return say_error(&e);
	if (o->in)
		return run_in(o, &e);
	if (complete(&c, o, o->argv, &e) < 0)
		return say_error(&e);
	tell_sandbox(o, o->argv);
	if (make_task(&c, o, &t, &e) < 0)
		return refuse_task(&c, o, &e);
	if (o->json && !o->detach)
		json_reserve_stdout();
	if (keep_settings(&c, &t, o, &e) < 0 || choose_again(&c, o, &t, o->argv, &e) < 0 ||
		session_run(&c, &t, &o->session, o->argv, &r, &e) < 0) {
		unstarted_drop(&c, &t, &e);
		unstarted_explain(&e, o->weaker);
		err_wrap(&e, "task '%s'", t.name);
		return say_error(&e);
	}
	return tell_end(&c, o, &t, &r);
}

/* One of --agents. */
static int run_one(const char *agent, const char *base, void *arg)
{
	struct run_line *o = arg;
	auto_str name = o->task.name ? xasprintf("%s-%s", o->task.name, agent) : NULL;

	o->agent = agent;
	o->task.name = name;
	o->task.suffix = agent;
	o->task.rev = base ? base : o->task.rev;
	o->detach = true;
	o->json = false;
	return run(o, o->rest);
}

static int run_each(struct run_line *o, char **words)
{
	const struct run_agents r = { o->agents, o->task.rev, o->json, run_one, o };
	struct err e = ERR_INIT;

	if (o->agent || o->tmux || !words[0] || words[1] || o->task.empty)
		return err_set(&e, ERR_USAGE,
			       "--agents takes one prompt in quotes, and neither --agent, --tmux nor --empty"),
		       err_hint(&e, "garth run --agents claude,codex \"fix the login\""), say_error(&e);
	o->rest = words;
	return run_agents(&r);
}

int cmd_run(int argc, char **argv)
{
	__attribute__((cleanup(run_line_release))) struct run_line o = { 0 };
	const struct opt opts[] = {
		{ 't', "task", OPT_STR, &o.task.name, "NAME", "the task's name (default: from CMD or PROMPT)",
			WORD_TEXT },
		{ 0, "in", OPT_STR, &o.in, "TASK", "make no task: run in this one, with a session of its own",
			WORD_TASK },
		{ 'b', "base", OPT_STR, &o.task.rev, "REV", "start from this commit, not from HEAD",
			WORD_REVISION },
		{ 0, "backend", OPT_STR, &o.task.backend, "NAME",
			"kind of workspace: overlay, worktree or clone", WORD_BACKEND },
		{ 0, "submodule", OPT_LIST, &o.task.submodules, "PATH",
			"let the task use this submodule; or all, or none", WORD_DIRECTORY },
		{ 0, "empty", OPT_FLAG, &o.task.empty, NULL,
			"no repository: an empty workspace in the same jail" },
		{ 0, "net", OPT_STR, &o.net, "MODE", "network: none, allow (only listed hosts) or host",
			WORD_NETWORK },
		{ 0, "allow", OPT_LIST, &o.allow, "HOST", "let the task reach this host, such as *.crates.io",
			WORD_TEXT },
		{ 'p', "port", OPT_LIST, &o.ports, "PORT",
			"forward a port of 127.0.0.1 to this port of the task", WORD_TEXT },
		{ 0, "agent", OPT_STR, &o.agent, "NAME", "run this agent, or use its log-in for CMD",
			WORD_AGENT },
		{ 0, "agents", OPT_STR, &o.agents, "NAME,NAME",
			"run a task in the background for each of these agents, with the same prompt",
			WORD_TEXT },
		{ 0, "cwd", OPT_STR, &o.cwd, "DIR",
			"start in this directory of the project (default: the current one)", WORD_DIRECTORY },
		{ 0, "timeout", OPT_STR, &o.timeout, "TIME",
			"end the command after this time, such as 90s or 2h", WORD_TEXT },
		{ 0, "limit", OPT_LIST, &o.limits, "NAME=VALUE",
			"set a limit of the task, such as max_disk=80GB", WORD_LIMIT },
		{ 0, "tickets", OPT_STR, &o.tickets, "N",
			"let the agent ask for so many tasks of its own, which it merges", WORD_TEXT },
		{ 0, "on-dirty", OPT_STR, &o.task.on_dirty, "WHAT",
			"uncommitted files at the end: fail, commit or keep", WORD_ON_DIRTY },
		{ 0, "push", OPT_STR, &o.session.push, "BRANCH",
			"push to this branch of the remote when it is done", WORD_BRANCH },
		{ 0, "with-changes", OPT_FLAG, &o.with_changes, NULL,
			"copy the checkout's uncommitted changes to the task" },
		{ 0, "no-setup", OPT_FLAG, &o.bring.no_setup, NULL, "without the files of workspace.setup" },
		{ 'd', "detach", OPT_FLAG, &o.detach, NULL, "run in the background" },
		SESSION_DETACH_KEYS(&o.session.detach_keys),
		{ 0, "tmux", OPT_FLAG, &o.tmux, NULL, "run in the background, in a tmux window" },
		{ 'e', "env", OPT_LIST, &o.env, "VAR[=VAL]", "set a variable, or pass in its current value",
			WORD_VARIABLE },
		{ 'q', "quiet", OPT_FLAG, &o.quiet, NULL, "print errors only" },
		{ 0, "json", OPT_FLAG, &o.json, NULL,
			"print the task as JSON at the end; CMD's output goes to stderr" },
		{ 0, "strict-isolation", OPT_FLAG, &o.task.strict, NULL,
			"borrow no git objects, never run in a weaker jail" },
		{ 0, "allow-weaker", OPT_FLAG, &o.weaker, NULL, "run even if a part of the jail is missing" },
		OPT_END,
	};
	struct cmd_line l = { "run", opts, 0, -1, true, 0, 0 };
	struct err e = ERR_INIT;

	CMD_PARSE(&l, argc, argv);
	return o.agents ? run_each(&o, argv + l.rest) : run(&o, argv + l.rest);
}
