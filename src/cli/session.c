#include "cli/session.h"

#include <errno.h>
#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#include "agent/agent.h"
#include "base/alloc.h"
#include "cli/ask.h"
#include "cli/ports.h"
#include "cli/say.h"
#include "cli/show_network.h"
#include "egress/proxy.h"
#include "egress/relay.h"
#include "gateway/end.h"
#include "gateway/gate.h"
#include "gateway/measure.h"
#include "gateway/renew.h"
#include "gateway/serve.h"
#include "gateway/sync.h"
#include "jail/order.h"
#include "keeper/keeper.h"
#include "keeper/wire.h"
#include "sys/cgroup.h"
#include "sys/fd.h"
#include "sys/lock.h"
#include "sys/sock.h"
#include "sys/sync.h"
#include "task/again.h"
#include "task/end.h"
#include "task/life.h"
#include "task/question.h"
#include "task/run.h"

#define PROXY_LINGER 30

/* An agent that is run in a task of another command's has to reach its model. */
static void add_agents(const struct config_agent *a, struct network *n)
{
	for (size_t i = 0; a && !strcmp(n->mode, NETWORK_ALLOW) && i < a->hosts.n; i++)
		if (!strvec_has(&n->allow, a->hosts.v[i]))
			strvec_push(&n->allow, a->hosts.v[i]);
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
	if (network_choose(&c->config, o->agent, mode, hosts, &o->net, e) < 0)
		return -1;
	if ((o->net_asked && !busy) || home_task_dir(&c->home, t->id, &dir, &none) < 0)
		return 0;
	network_release(&o->net);
	if (network_load(dir, busy, &o->net, &none) < 0)
		return network_choose(&c->config, o->agent, mode, hosts, &o->net, e);
	if (!busy)
		add_agents(o->agent, &o->net);
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

/* The agent's log-in comes into the task's home before anything runs. */
static int bring_login(struct context *c, struct task_at *at, const struct config_agent *agent, struct err *e)
{
	auto_fd user_home = open(c->user_home, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	auto_fd task_home = open_beneath(at->ws.dir, "home", O_RDONLY | O_DIRECTORY, 0);

	if (!agent)
		return 0;
	if (user_home < 0 || task_home < 0)
		return err_sys(e, "cannot open the home directories");
	return agent_copy_login(agent, user_home, task_home, NULL, e);
}

/* After a crash of the machine, files written shortly before may be incomplete: overlays are mounted without
 * syncing. `boot` tells during which boot the workspace was last mounted. */
static void look_at_boot(struct task_at *at)
{
	auto_buf last = BUF_SMALL;
	struct err ignored = ERR_INIT;
	char now[64];

	home_boot_id(now);
	if (!read_file(at->ws.dir, "boot", &last, &ignored) && !strcmp(buf_str(&last), now))
		return;
	if (last.len)
		say_warning("the machine was restarted since task '%s' last ran: look at its newest files",
			at->task->name);
	write_file(at->ws.dir, "boot", now, strlen(now), 0600, &ignored);
}

/* What a keeper needs of its task, for as long as it lives. */
struct kept {
	char *task;           /* its name */
	struct task_run *run; /* NULL where there is no main command */
	const struct network *net;
	struct strvec watch;
};

/* In the proxy's process. */
static void proxy(void *arg, int listen_fd)
{
	const struct kept *k = arg;
	const struct proxy p = { listen_fd, k->task, &k->net->allow, PROXY_LINGER };

	proxy_serve(&p);
}

/* In the gateway's process. */
static void gateway(void *arg, const struct keeper_gate *io)
{
	const struct kept *k = arg;
	struct err e = ERR_INIT;
	struct gate g = { 0 };

	if (io->job == GATE_CLOSE)
		task_end_begin(k->run);
	if (gate_open(&g, k->task, io->orders, &e) < 0)
		return;
	switch (io->job) {
	case GATE_SERVE:
		serve(&g, io->agent, io->user, io->linger, &e);
		break;
	case GATE_CLOSE:
		gate_end(&g, &e);
		break;
	case GATE_RENEW:
		gate_renew(&g, &e);
		break;
	case GATE_MEASURE:
		gate_measure(&g, &e);
		break;
	case GATE_SYNC:
		sync_quiet(&g, &e);
		break;
	}
	gate_close(&g);
}

/* In the keeper. A run that ended has its files written out; a mere exec leaves that to the kernel. */
static int on_ended(void *arg, const struct keeper_report *r)
{
	static const enum run_end ends[] = { [KEEPER_ENDED] = RUN_ENDED,
		[KEEPER_CANCELLED] = RUN_CANCELLED,
		[KEEPER_TIMED_OUT] = RUN_TIMED_OUT };
	const struct kept *k = arg;
	const struct task_run *run = k->run;
	auto_str path = xasprintf("%s/tasks/%lld", run->home, (long long)run->task);
	auto_fd dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct err ignored = ERR_INIT;
	auto_str note = NULL;
	int exit_code;

	if (r->oom_kills)
		note = xasprintf(
			"the kernel ended %llu of its processes, which needed more than limits.max_memory",
			(unsigned long long)r->oom_kills);
	exit_code = task_end(run, r->exit_code, ends[r->how], note ? note : "", &ignored);
	if (dir >= 0)
		sync_later(dir, "boot", "lock");
	return exit_code;
}

/* Where git puts the refs that the task is shown. */
static void watched(const struct repo *r, const struct task *t, struct strvec *ret)
{
	strvec_push(ret, r->git_dir);
	strvec_pushf(ret, "%s/refs/tags/", r->git_dir);
	/* "refs/heads" and on, down to where the target is; never all of it, where every task's branch is */
	for (const char *s = t->target; (s = strchr(s, '/')); s++)
		strvec_pushf(ret, "%s/%.*s", r->git_dir, (int)(s - t->target), t->target);
}

/* Where a full disk has no room for it, a command in a stopped task runs all the same. */
static int keep_network(struct task_at *at, const struct session_opts *o, bool own, struct err *e)
{
	struct err ignored = ERR_INIT;

	if (own)
		return network_save(at->ws.dir, true, &o->net, e);
	network_save(at->ws.dir, false, &o->net, &ignored);
	return 0;
}

/* What a control group holds for all of the task's processes together need not be held for each. */
static void limit(struct context *c, const struct task *t, struct jail *j, struct cgroup *ret)
{
	const struct cgroup_limits l = { c->config.max_memory, c->config.max_processes, c->config.max_cpu };
	auto_str name = xasprintf("garth-%lld", (long long)t->id);
	unsigned held;

	/* a limit that the jail holds as well is not worth a group of its own */
	if (!l.memory && !l.cpu)
		return;
	held = cgroup_make(&cgroup_kernel, name, &l, ret);
	if (held & CGROUP_MEMORY)
		j->max_memory = 0;
	if (l.memory && !(held & CGROUP_MEMORY))
		say_warning(
			"there is no control group for this user: limits.max_memory holds for each process by itself");
	if (l.cpu && !(held & CGROUP_CPU))
		say_warning("there is no control group for this user: limits.max_cpu is not held");
}

/* Describes the walls and starts a keeper, which takes the lock over. */
static int start_keeper(struct context *c, struct task *t, const struct session_opts *o,
	const struct order_cmd *main_cmd, struct task_run *run, int *lock, int *ret_conn, struct err *e)
{
	auto_task_at at = { .ws.dir = -1 };
	auto_jail jail = { 0 };
	struct walls_opts walls = o->walls;
	struct kept kept = { .task = t->name, .run = run, .net = &o->net };
	struct keeper_spec spec = { .jail = &jail,
		.main_cmd = main_cmd,
		.log_max = c->config.log_size,
		.gateway = gateway,
		.proxy = proxy,
		.relay = relay,
		.ports = o->ports,
		.arg = &kept,
		.on_ended = run ? on_ended : NULL };
	struct cgroup group = { .n = 0 };
	int rc;

	if (task_open(c, t, &at, e) < 0 || bring_login(c, &at, o->agent, e) < 0)
		return -1;
	look_at_boot(&at);
	walls.net = &o->net;
	if (keep_network(&at, o, run != NULL, e) < 0 || walls_describe(c, &at, &walls, &jail, e) < 0 ||
		jail_check(&jail, e) < 0)
		return -1;
	context_close_store(c);
	limit(c, t, &jail, &group);
	spec.group = &group;
	spec.task_dir = at.ws.dir;
	spec.lock_fd = *lock;
	spec.timeout = o->timeout;
	spec.measure_seconds = (unsigned)c->config.check_every;
	spec.sync_seconds = c->config.auto_rebase ? (unsigned)c->config.rebase_frequency : 0;
	watched(&at.repo, t, &kept.watch);
	spec.watch = (const char *const *)kept.watch.v;
	rc = keeper_start(&spec, ret_conn, e);
	if (rc < 0)
		cgroup_remove(&group);
	for (size_t i = 0; i < group.n; i++)
		free(group.dirs[i]);
	strvec_release(&kept.watch);
	return rc;
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
	announce(t, o, cmd.tty && !o->detach);
	if (start_keeper(c, t, o, &cmd, &run, &lock, &conn, e) < 0) {
		struct err ignored = ERR_INIT;

		task_run_end(&run, 125, RUN_ENDED, &ignored);
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
	struct again a = { .timeout = o->timeout, .agent = o->agent ? o->agent->name : NULL };
	struct err ignored = ERR_INIT;

	strvec_pushv(&a.argv, (const char *const *)argv);
	if (o->resume)
		strvec_pushv(&a.resume, (const char *const *)o->resume->v);
	if (o->env)
		strvec_pushv(&a.env, (const char *const *)o->env->v);
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

int session_resume(struct context *c, struct task *t, const struct session_opts *o, const char *answer,
	struct terminal_result *ret, struct err *e)
{
	struct session_opts opts = *o;
	auto_strvec words = STRVEC_INIT;
	auto_question asked = { 0 };
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
	again_words(&a, opts.agent, session, answer, &words);
	strvec_pushf(&a.env, "GARTH_ANSWER=%s", answer);
	if (!question_load(dir, &asked, &ignored))
		strvec_pushf(&a.env, "GARTH_QUESTION=%s", asked.text);
	opts.env = &a.env;
	opts.timeout = a.timeout;
	/* a question that is answered is put away before the next one can be asked */
	rc = question_close(dir, e);
	if (!rc && (rc = run_words(c, t, &opts, dir, session, &words, ret, e)) < 0)
		question_reopen(dir);
	network_release(&opts.net);
	return rc;
}

/* Into a log as well: why the task has failed, where its command may have succeeded. */
static void report_failure(struct context *c, const char *name, const struct terminal_result *r)
{
	auto_buf line = BUF_SMALL;
	auto_task t = { 0 };
	struct err e = ERR_INIT;

	if (r->end == TERMINAL_DETACHED || !r->exit_code)
		return;
	if (task_find(c, name, &t, &e) < 0) {
		say_warning("how task '%s' ended is not known: %s", name, e.msg);
		return;
	}
	/* its keeper is gone, and the store does not know of it */
	if (life_is_running(&t) || !strcmp(t.state, STATE_INTERRUPTED))
		say_warning("how task '%s' ended could not be written down", name);
	if (!strcmp(t.state, STATE_BLOCKED)) {
		ask_tell(c, &t);
		return;
	}
	tell_refused(c, &t);
	if (!*t.note)
		return;
	say_warning("task '%s' is %s, %s", name, t.state, say_one_line(&line, t.note));
	say_hint("garth diff %s", name);
}

void session_report(struct context *c, const char *name, const struct terminal_result *r, bool quiet)
{
	auto_task t = { 0 };
	struct err ignored = ERR_INIT;

	if (quiet)
		return;
	if (!say_is_heard()) {
		report_failure(c, name, r);
		return;
	}
	if (r->end == TERMINAL_DETACHED) {
		/* the terminal's cursor stands where the command left it */
		if (isatty(1))
			fputc('\n', stderr);
		say_state("task '%s' goes on", name);
		say_hint("garth attach %s", name);
		return;
	}
	if (task_find(c, name, &t, &ignored) < 0)
		return;
	if (!strcmp(t.state, STATE_BLOCKED)) {
		ask_tell(c, &t);
		return;
	}
	if (!strcmp(t.state, STATE_DONE))
		say_done("task '%s' is done", name);
	else
		say_state("task '%s' is %s, exit code %d", name, t.state, r->exit_code);
	if (*t.note) {
		auto_buf line = BUF_SMALL;

		say_warning("%s", say_one_line(&line, t.note));
	}
	tell_refused(c, &t);
	say_hint(*t.published && !strcmp(t.state, STATE_DONE) ? "garth merge %s" : "garth diff %s", name);
}

static int connect_keeper(const struct context *c, const struct task *t, int *ret, struct err *e)
{
	auto_fd dir = -1;

	if (home_task_dir(&c->home, t->id, &dir, e) < 0)
		return -1;
	return sock_connect(dir, "control", ret, e);
}

/* Joins the keeper or starts one. 1: neither worked just now, because one is leaving or arriving. */
static int join_or_start(
	struct context *c, struct task *t, const struct session_opts *o, int *ret_conn, struct err *e)
{
	auto_fd dir = -1, lock = -1;

	if (!connect_keeper(c, t, ret_conn, e)) {
		if (o->net_asked)
			say_warning("task '%s' is running: its network stays as it is", t->name);
		return 0;
	}
	if (e->kind != ERR_NOTFOUND || home_task_dir(&c->home, t->id, &dir, e) < 0)
		return -1;
	if (lock_take(dir, "lock", false, &lock, e) < 0)
		return e->kind == ERR_BUSY ? 1 : -1;
	return start_keeper(c, t, o, NULL, NULL, &lock, ret_conn, e);
}

int session_hold(struct context *c, struct task *t, int *ret_conn, struct err *e)
{
	struct session_opts o = { 0 };
	int rc = 1;

	if (session_network(c, t, NULL, NULL, &o, e) < 0)
		return -1;
	for (int tries = 0; rc > 0 && tries < 200; tries++) {
		if (tries)
			nanosleep(&(struct timespec){ .tv_nsec = 10000000 }, NULL);
		rc = join_or_start(c, t, &o, ret_conn, e);
	}
	network_release(&o.net);
	return rc > 0 ? err_set(e, ERR_BUSY, "task '%s' is in use by another command", t->name) : rc;
}

static int exec_once(struct context *c, struct task *t, const struct session_opts *o,
	const struct buf *packed, struct terminal_result *ret, struct err *e)
{
	const struct terminal_opts term = { .can_detach = false };
	auto_fd conn = -1;
	int rc = join_or_start(c, t, o, &conn, e);

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

int session_port(struct context *c, struct task *t, uint16_t inside, uint16_t *ret, struct err *e)
{
	auto_buf body = BUF_INIT(WIRE_FRAME_MAX);
	uint32_t port = inside;
	enum wire_type type;
	auto_fd conn = -1;

	if (connect_keeper(c, t, &conn, e) < 0 && e->kind == ERR_NOTFOUND)
		return err_set(e, ERR_REFUSED, "task '%s' is not running, it is %s", t->name, t->state);
	if (conn < 0 || wire_send(conn, WIRE_PORT, &port, sizeof(port)) < 0 ||
		wire_recv(conn, &type, &body) <= 0)
		return err_set(e, ERR_BUSY, "cannot reach the keeper of task '%s'", t->name);
	if (type == WIRE_FAIL) {
		memcpy(e, body.data, sizeof(*e));
		return -1;
	}
	if (type != WIRE_PORT)
		return err_set(e, ERR_FAILED, "the keeper of task '%s' says something else", t->name);
	memcpy(&port, body.data, sizeof(port));
	*ret = (uint16_t)port;
	return 0;
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
	if (connect_keeper(c, t, &conn, e) < 0 || wire_send(conn, WIRE_CANCEL, NULL, 0) < 0)
		return err_set(e, ERR_BUSY, "cannot reach the keeper of task '%s'", t->name);
	while ((got = wire_recv(conn, &type, &body)) > 0)
		if (type == WIRE_EXIT)
			return 0;
	return got < 0 ? err_sys(e, "lost the keeper of task '%s'", t->name) : 0;
}
