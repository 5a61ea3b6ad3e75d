#include "runtime/run.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <unistd.h>

#include "agent/agent.h"
#include "base/alloc.h"
#include "keeper/keeper.h"
#include "merge/compare.h"
#include "runtime/choose_network.h"
#include "runtime/login.h"
#include "runtime/rename.h"
#include "runtime/start_keeper.h"
#include "sys/fd.h"
#include "sys/lock.h"
#include "task/command_words.h"
#include "task/last_answer.h"
#include "task/life.h"
#include "task/own_config.h"
#include "task/push_owed.h"
#include "task/question.h"
#include "task/refused_path.h"
#include "task/repository_config.h"
#include "task/run.h"
#include "task/sessions.h"
#include "task/task_command.h"
#include "task/tip.h"
#include "task/verdict.h"

/* The prompt for an agent if the user gave no answer. */
#define GO_ON "Go on."

void runtime_warn(const struct run_opts *o, const char *fmt, ...)
{
	char text[2048];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (o->warnings)
		strvec_push(o->warnings, text);
}

/* The user's configuration, read again, and the task's layers over it. */
static int configure_anew(struct context *c, int task_dir, struct err *e)
{
	const struct config_places places = config_places(c->user_home);
	auto_config config = { 0 };
	struct config old = c->config;

	if (config_load(&places, &config, e) < 0 || own_config_apply(&config, task_dir, e) < 0)
		return -1;
	c->config = config;
	config = old;
	return 0;
}

int runtime_configure(struct context *c, const struct task *t, struct err *e)
{
	bool of_another = c->configured && c->configured != t->id;
	auto_fd dir = -1;

	if (home_task_dir(&c->home, t->id, &dir, e) < 0)
		return -1;
	c->configured = t->id;
	return of_another ? configure_anew(c, dir, e) : own_config_apply(&c->config, dir, e);
}

int runtime_reconfigure(struct context *c, const struct task *t, bool *ret_changed, struct err *e)
{
	auto_fd dir = -1;

	*ret_changed = false;
	if (home_task_dir(&c->home, t->id, &dir, e) < 0)
		return -1;
	if (faccessat(dir, REPOSITORY_CONFIG, F_OK, AT_SYMLINK_NOFOLLOW) < 0)
		return 0;
	if (configure_anew(c, dir, e) < 0)
		return -1;
	c->configured = t->id;
	*ret_changed = true;
	return 0;
}

/* The id of the task's first run; a new one if this is the first. */
int runtime_session(struct context *c, const struct task *t, char out[37], struct err *e)
{
	auto_str first = NULL;
	auto_fd dir = -1;

	if (context_store(c, e) < 0 || store_first_session(c->store, t->id, &first, e) < 0)
		return -1;
	if (*first)
		return snprintf(out, 37, "%s", first), 0;
	/* commands may have run in it before its first run */
	return home_task_dir(&c->home, t->id, &dir, e) < 0 ? -1 : sessions_main(t, dir, out, e);
}

static int take_lock(const struct task *t, int dir, int *ret, struct err *e)
{
	if (!lock_take(dir, "lock", false, ret, e))
		return 0;
	return e->kind == ERR_BUSY ? err_set(e, ERR_BUSY, "task '%s' is in use by another command", t->name)
				   : -1;
}

/* Under the task's lock, with which nothing publishes. */
static int check_tip(struct context *c, const struct task *t, const struct run_opts *o, struct err *e)
{
	auto_repo r = { 0 };

	if (!o->tip)
		return 0;
	if (context_store(c, e) < 0 || compare_open_repo(c, t, &r, e) < 0)
		return -1;
	return tip_check(&r, t, o->tip, e);
}

static int run_words(struct context *c, struct task *t, const struct run_opts *o, int dir,
	const char *session, const struct strvec *words, int *ret_conn, struct err *e)
{
	auto_order_cmd cmd = { 0 };
	auto_outside out = { 0 };
	struct task_run run = { 0 };
	struct err ignored = ERR_INIT;
	auto_fd lock = -1;
	int rc;

	rename_inside(c, t, &ignored);
	if (walls_command(c, t, o->agent, &o->net, session, o->env, words->v, &cmd, e) < 0 ||
		login_open(c, t, o, false, &out, e) < 0)
		return -1;
	outside_env(&out, &cmd.env);
	if (take_lock(t, dir, &lock, e) < 0 || check_tip(c, t, o, e) < 0)
		return -1;
	walls_enter(&cmd, t, o->cwd);
	cmd.tty = o->tty;
	cmd.rows = o->rows;
	cmd.cols = o->cols;
	if (task_run_begin(c, t, session, words->v, &run, e) < 0)
		return -1;
	run.kind = o->person || o->screen ? SESSION_AGENT : session_kind(words->v, o->tty && !o->detach);
	push_owed_set(dir, false);
	refused_path_forget(dir);
	rc = start_keeper(c, t, o, &cmd, &run, lock, ret_conn, e);
	if (!rc && o->consumes)
		unlinkat(dir, o->consumes, 0);
	if (rc < 0) {
		task_run_end(&run,
			&(struct run_outcome){ RUN_ENDED, err_exit_code(ERR_START), VERDICT_EXIT, "" },
			&ignored);
	}
	task_run_release(&run);
	return rc;
}

static void keep_command(int dir, const struct run_opts *o, char *const *argv)
{
	struct task_command cmd = { .timeout = o->timeout,
		.literal = o->literal,
		.weaker = o->walls.allow_weaker,
		.push = o->push ? xstrdup(o->push) : NULL,
		.agent = o->agent ? o->agent->name : NULL,
		.cwd = xstrdup(o->cwd ? o->cwd : "") };
	struct err ignored = ERR_INIT;

	strvec_pushv(&cmd.argv, (const char *const *)argv);
	if (o->resume)
		strvec_pushv(&cmd.resume, (const char *const *)o->resume->v);
	if (o->env)
		strvec_pushv(&cmd.env, (const char *const *)o->env->v);
	if (o->agent)
		agent_kept_variables(o->agent, environ, &cmd.kept);
	for (const uint16_t *p = o->ports; p && *p; p++)
		strvec_pushf(&cmd.ports, "%d", *p);
	/* if the disk is full the command runs, but cannot be resumed */
	task_command_save(dir, &cmd, &ignored);
	cmd.agent = NULL;
	task_command_release(&cmd);
}

int runtime_run(struct context *c, struct task *t, const struct run_opts *o, char *const *argv, int *ret_conn,
	struct err *e)
{
	auto_strvec given = STRVEC_INIT, words = STRVEC_INIT;
	auto_fd dir = -1;
	char session[37];

	if (runtime_session(c, t, session, e) < 0 || home_task_dir(&c->home, t->id, &dir, e) < 0)
		return -1;
	strvec_pushv(&given, (const char *const *)argv);
	if (o->literal)
		strvec_pushv(&words, (const char *const *)argv);
	else
		command_words_first(&given, session, &words);
	keep_command(dir, o, argv);
	return run_words(c, t, o, dir, session, &words, ret_conn, e);
}

/* The command could not be started: opens the question again, unless somebody else answered it and that run
 * is going on. */
static void ask_again(struct context *c, struct task *t, int dir)
{
	struct err ignored = ERR_INIT;
	auto_task now = { 0 };

	if (context_store(c, &ignored) < 0 || store_task_by_id(c->store, t->id, &now, &ignored) < 0 ||
		life_is_running(&now))
		return;
	question_reopen(dir);
	if (!strcmp(now.state, STATE_FAILED))
		life_move(c->store, &now, STATE_BLOCKED, &ignored);
}

/* Adds the user's answer, from now or from before a run that was interrupted, to the arguments and the
 * environment. */
static int give_answer(const struct task *t, struct run_opts *o, int dir, const char *session,
	const char *answer, struct task_command *cmd, struct strvec *words, struct err *e)
{
	auto_str given = last_answer_load(dir);
	auto_question asked = { 0 };
	struct err ignored = ERR_INIT;
	struct resume_how how = { o->agent, session, NULL, false };

	if (answer && last_answer_save(dir, answer, e) < 0)
		return -1;
	how.terminal = o->tty && !o->detach && session_kind(strvec_argv(&cmd->argv), true) == SESSION_AGENT;
	o->screen = how.terminal;
	/* a run that was interrupted may not have read it */
	how.answer = answer                                          ? answer
		     : given && !strcmp(t->state, STATE_INTERRUPTED) ? given
		     : how.terminal                                  ? NULL
								     : GO_ON;
	command_words_resume(cmd, &how, words);
	if (answer || given)
		strvec_pushf(&cmd->env, "GARTH_ANSWER=%s", answer ? answer : given);
	if (!question_load(dir, &asked, &ignored))
		strvec_pushf(&cmd->env, "GARTH_QUESTION=%s", asked.text);
	return 0;
}

static int load_command(const struct task *t, int dir, struct task_command *ret, struct err *e)
{
	if (!task_command_load(dir, ret, e))
		return 0;
	if (e->kind != ERR_NOTFOUND)
		return -1;
	err_set(e, ERR_REFUSED, "task '%s' has run no command that could be resumed", t->name);
	return err_hint(e, "garth exec %s -- CMD", t->name);
}

int runtime_can_prompt(struct context *c, const struct task *t, bool *ret_takes, struct err *e)
{
	auto_task_command cmd = { 0 };
	auto_fd dir = -1;

	if (life_is_running(t))
		return err_set(e, ERR_REFUSED,
			       "task '%s' is %s: it takes comments when its command has ended", t->name,
			       t->state),
		       err_hint(e, "garth wait %s", t->name);
	if (home_task_dir(&c->home, t->id, &dir, e) < 0 || load_command(t, dir, &cmd, e) < 0 ||
		runtime_configure(c, t, e) < 0)
		return -1;
	*ret_takes = command_words_take_answer(
		&cmd, cmd.agent ? config_agent_by_name(&c->config, cmd.agent) : NULL);
	return 0;
}

/* Closes the answered question before the new run can ask the next one. */
static int run_again(struct context *c, struct task *t, const struct run_opts *o, int dir,
	const char *session, const struct strvec *words, int *ret_conn, struct err *e)
{
	bool closed = false;

	if (question_close(dir, &closed, e) < 0)
		return -1;
	if (!run_words(c, t, o, dir, session, words, ret_conn, e))
		return 0;
	if (closed)
		ask_again(c, t, dir);
	return -1;
}

static int resume(struct context *c, struct task *t, struct run_opts *o, const char *answer, int *ret_conn,
	struct err *e)
{
	struct run_opts opts = *o;
	auto_strvec words = STRVEC_INIT;
	uint16_t *ports = NULL;
	auto_task_command cmd = { 0 };
	auto_fd dir = -1;
	char session[37];
	int rc;

	if (runtime_session(c, t, session, e) < 0 || home_task_dir(&c->home, t->id, &dir, e) < 0 ||
		load_command(t, dir, &cmd, e) < 0 || runtime_configure(c, t, e) < 0)
		return -1;
	opts.agent = cmd.agent ? config_agent_by_name(&c->config, cmd.agent) : NULL;
	command_words_use_kept(&cmd, environ);
	if (o->env)
		strvec_pushv(&cmd.env, (const char *const *)o->env->v);
	opts.env = &cmd.env;
	if (runtime_network(c, t, NULL, NULL, &opts, e) < 0)
		return -1;
	if (!o->timeout || (cmd.timeout && cmd.timeout < o->timeout))
		opts.timeout = cmd.timeout;
	opts.cwd = cmd.cwd;
	opts.walls.allow_weaker = cmd.weaker;
	if (cmd.ports.n)
		opts.ports = ports = xcalloc(KEEPER_PORTS_MAX + 1, sizeof(*ports));
	for (size_t i = 0; i < cmd.ports.n && i < KEEPER_PORTS_MAX; i++)
		ports[i] = (uint16_t)atoi(cmd.ports.v[i]);
	rc = login_still_there(c, t, dir, &opts, e);
	if (!rc)
		rc = give_answer(t, &opts, dir, session, answer, &cmd, &words, e);
	if (!rc)
		rc = run_again(c, t, &opts, dir, session, &words, ret_conn, e);
	if (rc < 0) {
		network_release(&opts.net);
		free(ports);
		return -1;
	}
	o->net = opts.net;
	o->ports = ports;
	return 0;
}

int runtime_resume(struct context *c, struct task *t, struct run_opts *o, const char *answer, int *ret_conn,
	struct err *e)
{
	if (!resume(c, t, o, answer, ret_conn, e))
		return 0;
	/* these errors name the task already */
	return e->kind == ERR_BUSY || e->kind == ERR_REFUSED || e->kind == ERR_CONFLICT
		       ? -1
		       : err_wrap(e, "task '%s'", t->name);
}
