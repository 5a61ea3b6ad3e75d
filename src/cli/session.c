#include "cli/session.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "agent/agent.h"
#include "base/alloc.h"
#include "cli/keeping.h"
#include "cli/ports.h"
#include "cli/reach.h"
#include "cli/say.h"
#include "jail/order.h"
#include "keeper/keeper.h"
#include "keeper/wire.h"
#include "sys/fd.h"
#include "sys/lock.h"
#include "sys/sock.h"
#include "task/again.h"
#include "task/end.h"
#include "task/life.h"
#include "task/question.h"
#include "task/run.h"

/* To an agent that was not asked for anything. */
#define GO_ON "Go on."

/* for longer than a look at what a task leaves may take, see REVIEW_SECONDS */
#define CANCEL_TRIES 6000
#define LEAVING_MS   1000

/* An agent that is run in a task of another command's has to reach its model. */
static void add_agents(const struct config_agent *a, struct network *n)
{
	for (size_t i = 0; a && !strcmp(n->mode, NETWORK_ALLOW) && i < a->hosts.n; i++)
		if (!strvec_has(&n->allow, a->hosts.v[i]))
			strvec_push(&n->allow, a->hosts.v[i]);
}

static int add_endpoints(const struct context *c, struct session_opts *o, struct err *e)
{
	auto_fd home = -1;

	if (!o->agent || strcmp(o->net.mode, NETWORK_ALLOW))
		return 0;
	home = open(c->user_home, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	agent_endpoints(&c->config, o->agent, environ, o->env, home, &o->net.allow);
	return network_check_forwards(&o->net, e);
}

int session_choose_network(const struct context *c, const char *mode, const struct strvec *hosts,
	struct session_opts *o, struct err *e)
{
	if (network_choose(&c->config, o->agent, mode, hosts, &o->net, e) < 0)
		return -1;
	return add_endpoints(c, o, e);
}

int session_configure(struct context *c, const struct task *t, struct err *e)
{
	auto_fd dir = -1;

	return home_task_dir(&c->home, t->id, &dir, e) < 0 ? -1 : again_configure(&c->config, dir, e);
}

int session_network(struct context *c, struct task *t, const char *mode, const struct strvec *hosts,
	struct session_opts *o, struct err *e)
{
	auto_fd dir = -1;
	bool busy = task_is_busy(c, t);
	struct err none = ERR_INIT;

	o->net_asked = mode || (hosts && hosts->n);
	/* what was asked for has to make sense, whatever comes of it */
	if (session_choose_network(c, mode, hosts, o, e) < 0)
		return -1;
	if ((o->net_asked && !busy) || home_task_dir(&c->home, t->id, &dir, &none) < 0)
		return 0;
	network_release(&o->net);
	if (network_load(dir, busy, &o->net, &none) < 0)
		return session_choose_network(c, mode, hosts, o, e);
	if (!busy) {
		add_agents(o->agent, &o->net);
		return add_endpoints(c, o, e);
	}
	return 0;
}

/* A terminal inside where there is one outside, on both ends. */
static void size_terminal(struct order_cmd *cmd)
{
	struct wire_size size = { 24, 80 };

	cmd->tty = isatty(0) && isatty(1);
	terminal_size(&size);
	cmd->rows = size.rows;
	cmd->cols = size.cols;
}

static int take_lock(struct context *c, const struct task *t, int dir, int *ret, struct err *e)
{
	(void)c;
	if (!lock_take(dir, "lock", false, ret, e))
		return 0;
	return e->kind == ERR_BUSY ? err_set(e, ERR_BUSY, "task '%s' is in use by another command", t->name)
				   : -1;
}

static void announce(const struct task *t, const struct session_opts *o, bool tty)
{
	if (o->quiet || !say_is_heard())
		return;
	say_state("task '%s' (%s, network %s)%s", t->name, t->backend, o->net.mode,
		tty ? "; detach with " TERMINAL_DETACH_KEYS : "");
}

static void announce_ports(struct context *c, const struct task *t, const struct session_opts *o)
{
	auto_buf text = BUF_SMALL;

	if (!o->ports || o->quiet)
		return;
	/* the keeper writes them down first thing */
	for (int tries = 0; !text.len && tries < 100; tries++) {
		if (tries)
			nanosleep(&(struct timespec){ .tv_nsec = 5000000 }, NULL);
		ports_text(c, t, &text);
	}
	if (text.len)
		say_state("ports %s", text.data);
}

/* The id of the task's first run, which is a new one where this is it. */
static int find_session(struct context *c, const struct task *t, char out[37], struct err *e)
{
	auto_str first = NULL;

	if (context_store(c, e) < 0 || store_first_session(c->store, t->id, &first, e) < 0)
		return -1;
	if (*first)
		snprintf(out, 37, "%s", first);
	else
		task_session_id(out);
	return 0;
}

static int run_words(struct context *c, struct task *t, const struct session_opts *o, int dir,
	const char *session, const struct strvec *words, struct terminal_result *ret, struct err *e)
{
	struct terminal_opts term = { .can_detach = true, .detach_at_once = o->detach };
	auto_order_cmd cmd = { 0 };
	struct task_run run = { 0 };
	auto_fd lock = -1, conn = -1;
	int rc = -1;

	if (walls_command(c, t, o->agent, &o->net, session, o->env, words->v, &cmd, e) < 0 ||
		take_lock(c, t, dir, &lock, e) < 0)
		return -1;
	size_terminal(&cmd);
	if (o->detach)
		cmd.tty = true;
	if (task_run_begin(c, t, session, words->v, &run, e) < 0)
		return -1;
	run.kind = session_kind(words->v, cmd.tty && !o->detach);
	again_owe_push(dir, false);
	announce(t, o, cmd.tty && !o->detach);
	if (keeping_start(c, t, o, &cmd, &run, &lock, &conn, e) < 0) {
		struct err ignored = ERR_INIT;

		task_run_end(&run, &(struct run_outcome){ RUN_ENDED, 125, VERDICT_EXIT, "" }, &ignored);
	} else {
		fd_closep(&lock);
		lock = -1;
		announce_ports(c, t, o);
		rc = terminal_session(conn, &term, ret, e);
	}
	task_run_release(&run);
	return rc;
}

static void keep_command(int dir, const struct session_opts *o, char *const *argv)
{
	struct again a = { .timeout = o->timeout,
		.weaker = o->walls.allow_weaker,
		.push = o->push ? xstrdup(o->push) : NULL,
		.agent = o->agent ? o->agent->name : NULL };
	struct err ignored = ERR_INIT;

	strvec_pushv(&a.argv, (const char *const *)argv);
	if (o->resume)
		strvec_pushv(&a.resume, (const char *const *)o->resume->v);
	if (o->env)
		strvec_pushv(&a.env, (const char *const *)o->env->v);
	for (const uint16_t *p = o->ports; p && *p; p++)
		strvec_pushf(&a.ports, "%d", *p);
	/* on a full disk it runs all the same, and cannot be resumed */
	again_save(dir, &a, &ignored);
	a.agent = NULL;
	again_release(&a);
}

int session_run(struct context *c, struct task *t, const struct session_opts *o, char *const *argv,
	struct terminal_result *ret, struct err *e)
{
	auto_strvec given = STRVEC_INIT, words = STRVEC_INIT;
	auto_fd dir = -1;
	char session[37];

	if (find_session(c, t, session, e) < 0 || home_task_dir(&c->home, t->id, &dir, e) < 0)
		return -1;
	strvec_pushv(&given, (const char *const *)argv);
	again_first(&given, session, &words);
	keep_command(dir, o, argv);
	return run_words(c, t, o, dir, session, &words, ret, e);
}

/* It could not be started: the question stands as it was. Where somebody else has just answered it, that run
 * goes on. */
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

int session_resume(struct context *c, struct task *t, const struct session_opts *o, const char *answer,
	struct terminal_result *ret, struct err *e)
{
	struct session_opts opts = *o;
	auto_strvec words = STRVEC_INIT;
	uint16_t ports[KEEPER_PORTS_MAX + 1] = { 0 };
	auto_question asked = { 0 };
	auto_str given = NULL;
	const char *said;
	bool closed = false;
	auto_again a = { 0 };
	auto_fd dir = -1;
	struct err ignored = ERR_INIT;
	char session[37];
	int rc;

	if (find_session(c, t, session, e) < 0 || home_task_dir(&c->home, t->id, &dir, e) < 0)
		return -1;
	if (again_load(dir, &a, e) < 0) {
		if (e->kind == ERR_NOTFOUND)
			err_set(e, ERR_REFUSED, "task '%s' has run nothing that could go on", t->name),
				err_hint(e, "garth exec %s -- CMD", t->name);
		return -1;
	}
	if (session_configure(c, t, e) < 0)
		return -1;
	opts.agent = a.agent ? config_agent_by_name(&c->config, a.agent) : NULL;
	if (session_network(c, t, NULL, NULL, &opts, e) < 0)
		return -1;
	given = again_answer(dir);
	if (answer && again_keep_answer(dir, answer, e) < 0)
		return -1;
	/* a run that was cut short may not have come to read it */
	said = answer ? answer : given && !strcmp(t->state, STATE_INTERRUPTED) ? given : GO_ON;
	again_words(&a, opts.agent, session, said, &words);
	if (answer || given)
		strvec_pushf(&a.env, "GARTH_ANSWER=%s", answer ? answer : given);
	if (!question_load(dir, &asked, &ignored))
		strvec_pushf(&a.env, "GARTH_QUESTION=%s", asked.text);
	opts.env = &a.env;
	opts.timeout = a.timeout;
	opts.walls.allow_weaker = a.weaker;
	for (size_t i = 0; i < a.ports.n && i < KEEPER_PORTS_MAX; i++)
		ports[i] = (uint16_t)atoi(a.ports.v[i]);
	if (a.ports.n)
		opts.ports = ports;
	/* a question that is answered is put away before the next one can be asked */
	rc = question_close(dir, &closed, e);
	if (!rc && (rc = run_words(c, t, &opts, dir, session, &words, ret, e)) < 0 && closed)
		ask_again(c, t, dir);
	network_release(&opts.net);
	return rc;
}

static int connect_keeper(const struct context *c, const struct task *t, int *ret, struct err *e)
{
	auto_fd dir = -1;

	if (home_task_dir(&c->home, t->id, &dir, e) < 0)
		return -1;
	return sock_connect(dir, "control", ret, e);
}

/* Joins the keeper or starts one. 1: neither worked just now, because one is leaving or arriving. */
static int join_or_start(struct context *c, struct task *t, const struct session_opts *o, bool *ret_started,
	int *ret_conn, struct err *e)
{
	auto_fd dir = -1, lock = -1;

	*ret_started = false;
	if (!connect_keeper(c, t, ret_conn, e)) {
		if (o->net_asked)
			say_warning(
				"task '%s' is running: its network stays as it is, but for garth allow --host",
				t->name);
		return reach_for_agent(c, t, o, e);
	}
	if (e->kind != ERR_NOTFOUND || home_task_dir(&c->home, t->id, &dir, e) < 0)
		return -1;
	if (lock_take(dir, "lock", false, &lock, e) < 0)
		return e->kind == ERR_BUSY ? 1 : -1;
	*ret_started = true;
	return keeping_start(c, t, o, NULL, NULL, &lock, ret_conn, e);
}

/* A keeper that the command before left behind is about to go: what has to be done before one starts waits for
 * it, and not for one that has commands. */
static void wait_for_leaving(const struct context *c, const struct task *t)
{
	struct err ignored = ERR_INIT;
	auto_fd dir = -1;

	if (life_is_running(t) || home_task_dir(&c->home, t->id, &dir, &ignored) < 0)
		return;
	for (int ms = 0; ms < LEAVING_MS && lock_is_held(dir, "lock"); ms += 2)
		nanosleep(&(struct timespec){ .tv_nsec = 2000000 }, NULL);
}

int session_hold(
	struct context *c, struct task *t, bool set_aside, bool *ret_started, int *ret_conn, struct err *e)
{
	struct session_opts o = { .set_aside = set_aside };
	int rc = 1;

	if (session_configure(c, t, e) < 0 || session_network(c, t, NULL, NULL, &o, e) < 0)
		return -1;
	if (set_aside)
		wait_for_leaving(c, t);
	for (int tries = 0; rc > 0 && tries < 200; tries++) {
		if (tries)
			nanosleep(&(struct timespec){ .tv_nsec = 10000000 }, NULL);
		rc = join_or_start(c, t, &o, ret_started, ret_conn, e);
	}
	network_release(&o.net);
	return rc > 0 ? err_set(e, ERR_BUSY, "task '%s' is in use by another command", t->name) : rc;
}

static int exec_once(struct context *c, struct task *t, const struct session_opts *o,
	const struct buf *packed, struct terminal_result *ret, struct err *e)
{
	const struct terminal_opts term = { .can_detach = false };
	auto_fd conn = -1;
	bool started;
	int rc = join_or_start(c, t, o, &started, &conn, e);

	if (rc > 0)
		return *ret = (struct terminal_result){ .end = TERMINAL_GONE }, 0;
	if (rc < 0)
		return -1;
	if (wire_send(conn, WIRE_EXEC, packed->data, packed->len) < 0)
		return errno == EPIPE || errno == ECONNRESET
			       ? (*ret = (struct terminal_result){ .end = TERMINAL_GONE }, 0)
			       : err_sys(e, "cannot reach the task's keeper");
	return terminal_session(conn, &term, ret, e);
}

int session_exec(struct context *c, struct task *t, const struct session_opts *o, char *const *argv,
	struct terminal_result *ret, struct err *e)
{
	auto_buf packed = BUF_INIT(ORDER_CMD_MAX);
	auto_order_cmd cmd = { 0 };
	char session[37];

	if (t->session && *t->session)
		snprintf(session, sizeof(session), "%s", t->session);
	else
		task_session_id(session);
	if (walls_command(c, t, o->agent, &o->net, session, o->env, argv, &cmd, e) < 0)
		return -1;
	size_terminal(&cmd);
	order_cmd_pack(&cmd, &packed);
	if (packed.overflow)
		return err_set(e, ERR_USAGE, "the command is longer than %u bytes", ORDER_CMD_MAX);
	for (unsigned tries = 0; tries < 500; tries++) {
		if (exec_once(c, t, o, &packed, ret, e) < 0)
			return -1;
		if (ret->end != TERMINAL_GONE)
			return 0;
		nanosleep(&(struct timespec){ .tv_nsec = tries < 20 ? 500000 : 10000000 }, NULL);
	}
	return err_set(e, ERR_BUSY, "task '%s' is in use by another command", t->name);
}

int session_attach(struct context *c, struct task *t, struct terminal_result *ret, struct err *e)
{
	const struct terminal_opts term = { .can_detach = true };
	struct wire_size size = { 24, 80 };
	auto_fd conn = -1;

	if (!life_is_running(t))
		return err_set(e, ERR_REFUSED, "task '%s' is not running, it is %s", t->name, t->state),
		       err_hint(e, "garth log %s", t->name);
	terminal_size(&size);
	if (connect_keeper(c, t, &conn, e) < 0)
		return err_wrap(e, "cannot reach the keeper of task '%s'", t->name);
	if (wire_send(conn, WIRE_ATTACH, &size, sizeof(size)) < 0)
		return err_sys(e, "cannot reach the keeper of task '%s'", t->name);
	return terminal_session(conn, &term, ret, e);
}

/* One question to the keeper, with a port in it, which it answers with one. */
static int ask_port(struct context *c, struct task *t, enum wire_type question, uint16_t port, uint16_t *ret,
	struct err *e)
{
	auto_buf body = BUF_INIT(WIRE_FRAME_MAX);
	uint32_t number = port;
	enum wire_type type;
	auto_fd conn = -1;

	if (connect_keeper(c, t, &conn, e) < 0 && e->kind == ERR_NOTFOUND)
		return -1;
	if (conn < 0 || wire_send(conn, question, &number, sizeof(number)) < 0 ||
		wire_recv(conn, &type, &body) <= 0)
		return err_set(e, ERR_BUSY, "cannot reach the keeper of task '%s'", t->name);
	if (type == WIRE_FAIL) {
		memcpy(e, body.data, sizeof(*e));
		return -1;
	}
	if (type != question)
		return err_set(e, ERR_FAILED, "the keeper of task '%s' says something else", t->name);
	memcpy(&number, body.data, sizeof(number));
	*ret = (uint16_t)number;
	return 0;
}

int session_port(struct context *c, struct task *t, uint16_t inside, uint16_t *ret, struct err *e)
{
	if (ask_port(c, t, WIRE_PORT, inside, ret, e) == 0)
		return 0;
	if (e->kind == ERR_NOTFOUND)
		err_set(e, ERR_REFUSED, "task '%s' is not running, it is %s", t->name, t->state);
	return -1;
}

int session_forward(struct context *c, struct task *t, uint16_t port, struct err *e)
{
	uint16_t same;

	return ask_port(c, t, WIRE_FORWARD, port, &same, e);
}

int session_cancel(struct context *c, struct task *t, struct err *e)
{
	auto_buf body = BUF_INIT(WIRE_FRAME_MAX);
	enum wire_type type;
	auto_fd conn = -1;
	int got;

	/* a stopped task may have commands of `garth exec` in it, which end as well */
	if (!life_is_running(t) && !task_is_busy(c, t))
		return err_set(e, ERR_REFUSED, "task '%s' is not running, it is %s", t->name, t->state);
	/* one that has just been started does not listen yet */
	for (int tries = 0; connect_keeper(c, t, &conn, e) < 0; tries++) {
		if (e->kind != ERR_NOTFOUND || tries == CANCEL_TRIES)
			return err_wrap(e, "cannot reach the keeper of task '%s'", t->name);
		/* or has ended meanwhile; or somebody was only making it */
		if (!task_is_busy(c, t))
			return life_is_running(t)
				       ? 0
				       : err_set(e, ERR_REFUSED, "task '%s' is not running, it is %s",
						 t->name, t->state);
		nanosleep(&(struct timespec){ .tv_nsec = 5000000 }, NULL);
	}
	if (wire_send(conn, WIRE_CANCEL, NULL, 0) < 0)
		return err_set(e, ERR_BUSY, "cannot reach the keeper of task '%s'", t->name);
	while ((got = wire_recv(conn, &type, &body)) > 0)
		if (type == WIRE_EXIT || type == WIRE_FAIL)
			return 0;
	return got < 0 ? err_sys(e, "lost the keeper of task '%s'", t->name) : 0;
}
