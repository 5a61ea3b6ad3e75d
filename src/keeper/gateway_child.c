#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "keeper/state.h"
#include "sys/fd.h"
#include "sys/owner.h"
#include "sys/sock.h"

#define LAST_WORDS_MAX 16
#define LINGER_SECONDS 30
#define RENEW_USEC     20000
#define FDS_MAX        4
#define WATCH_DEPTH    20

int gateway_child_listen(struct gateway_child *g, const struct keeper_spec *spec, struct err *e)
{
	if (sock_listen(spec->task_dir, KEEPER_AGENT_SOCKET, &g->agent, e) < 0)
		return -1;
	/* any user may connect: only the inside can reach this path, because the Garth home is closed to
	 * others */
	if (fchmodat(spec->task_dir, KEEPER_AGENT_SOCKET, 0666, 0) < 0 ||
		owner_give(spec->task_dir, KEEPER_AGENT_SOCKET) < 0)
		return err_sys(e, "cannot open the gateway's socket");
	return 0;
}

/* Waits for the next connection, which the gateway's process then accepts. */
static void accept_calls(struct keeper *k)
{
	if (k->gateway.agent_ev && k->phase <= PHASE_OPEN) {
		event_add(k->gateway.agent_ev, NULL);
		event_add(k->gateway.user_ev, NULL);
	}
}

static void forget(struct gateway_child *g)
{
	if (g->orders_ev)
		event_free(g->orders_ev);
	g->orders_ev = NULL;
	fd_closep(&g->orders);
	g->orders = -1;
}

/* Kills the commands of a gateway process that has ended. Their answers will be ignored. */
static void end_passed(struct keeper *k)
{
	for (size_t i = 0; i < PASSED_MAX; i++) {
		struct order_msg m = {
			.type = ORDER_SIGNAL, .id = k->gateway.passed[i].ours, .value = SIGKILL
		};

		if (m.id)
			orders_send(k, &m, NULL, 0);
		k->gateway.passed[i].ours = 0;
	}
}

void gateway_child_end_commands(struct keeper *k, const char *why)
{
	for (size_t i = 0; i < PASSED_MAX; i++) {
		struct order_msg m = {
			.type = ORDER_NOT_STARTED, .id = k->gateway.passed[i].theirs, .value = EINTR
		};
		struct order_msg end = { .type = ORDER_SIGNAL, .id = k->gateway.passed[i].ours };

		if (!end.id)
			continue;
		snprintf(m.err.msg, sizeof(m.err.msg), "the task was paused meanwhile: %s", why);
		sock_send(k->gateway.orders, &m, sizeof(m), NULL, 0);
		/* git removes its locks before it ends, for which it must run; in a frozen group it ends when that is thawed */
		end.value = SIGTERM;
		orders_send(k, &end, NULL, 0);
		end.value = SIGCONT;
		orders_send(k, &end, NULL, 0);
		k->gateway.passed[i].ours = 0;
	}
}

static void refuse(struct gateway_child *g, uint32_t id, int error)
{
	struct order_msg m = { .type = ORDER_NOT_STARTED, .id = id, .value = error };

	sock_send(g->orders, &m, sizeof(m), NULL, 0);
}

static void pass_start(struct keeper *k, uint32_t id, const int *fds, size_t nfds)
{
	struct gateway_child *g = &k->gateway;
	struct order_msg m = { .type = ORDER_START };
	size_t i = 0;

	while (i < PASSED_MAX && g->passed[i].ours)
		i++;
	if (i == PASSED_MAX || nfds != FDS_MAX) {
		refuse(g, id, EAGAIN);
		return;
	}
	m.id = ++k->last_id;
	if (orders_send(k, &m, fds, nfds) < 0) {
		refuse(g, id, errno);
		return;
	}
	g->passed[i].ours = m.id;
	g->passed[i].theirs = id;
}

static void pass_signal(struct keeper *k, const struct order_msg *m)
{
	/* id 0: for everything inside */
	if (!m->id) {
		if (m->value == SIGSTOP)
			pause_all(k, m->err.msg);
		else if (m->value == SIGCONT)
			pause_over(k);
		return;
	}
	for (size_t i = 0; i < PASSED_MAX; i++) {
		struct order_msg to = {
			.type = ORDER_SIGNAL, .id = k->gateway.passed[i].ours, .value = m->value
		};

		if (to.id && k->gateway.passed[i].theirs == m->id)
			orders_send(k, &to, NULL, 0);
	}
}

static void on_orders(evutil_socket_t fd, short what, void *arg)
{
	struct keeper *k = arg;
	int fds[FDS_MAX];
	size_t nfds = FDS_MAX;
	struct order_msg m;
	ssize_t n = sock_recv(fd, &m, sizeof(m), fds, &nfds);

	(void)what;
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) {
		event_del(k->gateway.orders_ev);
		return;
	}
	if (n == sizeof(m) && m.type == ORDER_START)
		pass_start(k, m.id, fds, nfds);
	else if (n == sizeof(m) && m.type == ORDER_SIGNAL)
		pass_signal(k, &m);
	for (size_t i = 0; i < nfds; i++)
		close(fds[i]);
}

bool gateway_child_answer(struct keeper *k, const struct order_msg *m)
{
	struct gateway_child *g = &k->gateway;

	for (size_t i = 0; i < PASSED_MAX; i++) {
		struct order_msg up = *m;

		if (!g->passed[i].ours || g->passed[i].ours != m->id)
			continue;
		up.id = g->passed[i].theirs;
		if (m->type != ORDER_STARTED)
			g->passed[i].ours = 0;
		if (g->orders >= 0)
			sock_send(g->orders, &up, sizeof(up), NULL, 0);
		return true;
	}
	return false;
}

void gateway_child_open(struct keeper *k)
{
	if (k->gateway.orders_ev)
		event_add(k->gateway.orders_ev, NULL);
}

static void be_gateway(struct keeper *k, enum gateway_job job, int orders)
{
	const struct gateway_spec spec = { .job = job,
		.task = k->spec.task,
		.run = k->spec.run,
		.agent = k->gateway.agent,
		.user = k->gateway.user,
		.keeper = orders,
		.linger = LINGER_SECONDS };
	int keep[] = { spec.agent, spec.user, spec.keeper };

	keeper_become("garth-gateway", keep, ARRAY_SIZE(keep));
	/* on SIGTERM it finishes the current request (gateway/server.c) */
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	/* writes report a client that is gone; programs that it executes get the default again */
	signal(SIGPIPE, SIG_IGN);
	gateway_main(&spec);
	_exit(0);
}

static void fork_gateway(struct keeper *k, enum gateway_job job)
{
	struct gateway_child *g = &k->gateway;
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return;
	g->pid = fork();
	if (!g->pid)
		be_gateway(k, job, pair[1]);
	close(pair[1]);
	if (g->pid < 0) {
		g->pid = 0;
		close(pair[0]);
		return;
	}
	g->job = job;
	g->orders = pair[0];
	fd_nonblock(g->orders);
	event_del(g->agent_ev);
	event_del(g->user_ev);
	g->orders_ev = event_new(k->base, g->orders, EV_READ | EV_PERSIST, on_orders, k);
	/* orders that come before the jail exists stay in the socket */
	if (g->orders_ev && k->first)
		event_add(g->orders_ev, NULL);
}

static void on_connection(evutil_socket_t fd, short what, void *arg)
{
	struct keeper *k = arg;

	(void)fd;
	(void)what;
	if (!k->gateway.pid)
		fork_gateway(k, GATEWAY_SERVE);
}

/* Tells the serving process to do a job after the current request. False if its socket is full. */
static bool tell(struct gateway_child *g, enum gateway_job job)
{
	struct order_msg m = { .type = ORDER_JOB, .value = (int32_t)job };

	return sock_send(g->orders, &m, sizeof(m), NULL, 0) >= 0;
}

/* False if the job has to wait. */
static bool start_job(struct keeper *k, enum gateway_job job)
{
	if (k->phase != PHASE_OPEN)
		return false;
	if (!k->gateway.pid)
		fork_gateway(k, job);
	else if (k->gateway.job == GATEWAY_SERVE)
		tell(&k->gateway, job);
	else if (job == GATEWAY_RENEW)
		k->gateway.renew = true;
	else
		return false;
	return true;
}

void gateway_child_begin(struct keeper *k)
{
	if (k->spec.renew)
		start_job(k, GATEWAY_RENEW);
}

static void on_renew(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	start_job(arg, GATEWAY_RENEW);
}

static void on_sync(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	start_job(arg, GATEWAY_SYNC);
}

static void watch_dir(int inotify, const char *path, int depth)
{
	bool deep = path[strlen(path) - 1] == '/';
	struct dirent *ent;
	DIR *d;

	/* watching a directory twice does no harm */
	inotify_add_watch(inotify, path, IN_MOVED_TO | IN_DELETE | IN_CREATE | IN_ONLYDIR);
	d = deep && depth < WATCH_DEPTH ? opendir(path) : NULL;
	while (d && (ent = readdir(d))) {
		auto_str sub = xasprintf("%s%s/", path, ent->d_name);

		if (ent->d_type == DT_DIR && ent->d_name[0] != '.')
			watch_dir(inotify, sub, depth + 1);
	}
	if (d)
		closedir(d);
}

static void watch_all(struct keeper *k)
{
	for (const char *const *dir = k->spec.watch; *dir; dir++)
		watch_dir(k->gateway.watch, *dir, 0);
}

/* Many changes within a short time, as by a fetch, are one. Directories come and go: git makes them for refs
 * and removes them when it packs refs. */
static void on_watch(evutil_socket_t fd, short what, void *arg)
{
	struct keeper *k = arg;
	struct timeval soon = { .tv_usec = RENEW_USEC };
	char events[4096] __attribute__((aligned(__alignof__(struct inotify_event))));
	bool dirs = false;
	ssize_t n;

	(void)what;
	while ((n = read(fd, events, sizeof(events))) > 0)
		for (char *at = events; at < events + n;) {
			const struct inotify_event *ev = (const struct inotify_event *)at;

			dirs |= (ev->mask & (IN_ISDIR | IN_IGNORED | IN_Q_OVERFLOW)) != 0;
			at += sizeof(*ev) + ev->len;
		}
	if (dirs)
		watch_all(k);
	evtimer_add(k->gateway.renew_timer, &soon);
}

static void watch(struct keeper *k)
{
	struct gateway_child *g = &k->gateway;

	if (!k->spec.watch || !k->spec.main_cmd)
		return;
	g->watch = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	if (g->watch < 0)
		return;
	watch_all(k);
	g->watch_ev = event_new(k->base, g->watch, EV_READ | EV_PERSIST, on_watch, k);
	g->renew_timer = evtimer_new(k->base, on_renew, k);
	if (g->watch_ev && g->renew_timer)
		event_add(g->watch_ev, NULL);
}

int gateway_child_start(struct keeper *k, struct err *e)
{
	struct gateway_child *g = &k->gateway;
	struct timeval often = { .tv_sec = k->spec.sync_seconds };

	if (sock_listen(k->spec.task_dir, KEEPER_USER_SOCKET, &g->user, e) < 0)
		return -1;
	g->agent_ev = event_new(k->base, g->agent, EV_READ, on_connection, k);
	g->user_ev = event_new(k->base, g->user, EV_READ, on_connection, k);
	if (!g->agent_ev || !g->user_ev)
		return err_set(e, ERR_FAILED, "cannot wait for the gateway's callers");
	accept_calls(k);
	watch(k);
	if (often.tv_sec && k->spec.main_cmd) {
		g->sync_timer = event_new(k->base, -1, EV_PERSIST, on_sync, k);
		event_add(g->sync_timer, &often);
	}
	return 0;
}

bool gateway_child_is_called(const struct keeper *k)
{
	struct pollfd p = { k->gateway.user, POLLIN, 0 };

	return k->gateway.agent_ev && poll(&p, 1, 0) > 0;
}

void gateway_child_leave(struct keeper *k)
{
	if (!k->gateway.pid)
		return;
	k->gateway.leaving = true;
	tell(&k->gateway, GATEWAY_LEAVE);
}

/* A serving process ends after the current request. Other jobs can be interrupted at any point. */
static void end_process(struct gateway_child *g)
{
	if (g->job != GATEWAY_SERVE || !tell(g, GATEWAY_FINISH))
		kill(g->pid, SIGTERM);
}

void gateway_child_finish(struct keeper *k)
{
	/* then gateway_child_ended continues here */
	if (k->gateway.pid)
		end_process(&k->gateway);
	else
		fork_gateway(k, GATEWAY_CLOSE);
	if (!k->gateway.pid)
		phase_end(k, k->exit_code);
}

/* The gateway has left: clients of ended commands get their exit codes. If another command has started
 * meanwhile, the task goes on. */
static void has_left(struct keeper *k)
{
	int code = -1;

	k->gateway.leaving = false;
	for (size_t i = 0; i < COMMANDS_MAX; i++)
		if (k->commands[i] && k->commands[i]->state == COMMAND_OVER)
			code = k->commands[i]->exit_code;
	phase_check(k, code);
	for (size_t i = 0; k->phase == PHASE_OPEN && i < COMMANDS_MAX; i++)
		if (k->commands[i] && k->commands[i]->state == COMMAND_OVER)
			command_over(k->commands[i]);
}

void gateway_child_ended(struct keeper *k)
{
	struct gateway_child *g = &k->gateway;
	enum gateway_job job = g->job;

	g->pid = 0;
	/* read its last messages */
	if (g->orders_ev && k->phase == PHASE_OPEN)
		for (int i = 0; i < LAST_WORDS_MAX && event_pending(g->orders_ev, EV_READ, NULL); i++)
			on_orders(g->orders, EV_READ, k);
	forget(g);
	end_passed(k);
	if (k->phase == PHASE_CLOSING) {
		if (job == GATEWAY_CLOSE)
			phase_end(k, k->exit_code);
		else
			gateway_child_finish(k);
		return;
	}
	accept_calls(k);
	if (g->renew) {
		g->renew = false;
		start_job(k, GATEWAY_RENEW);
	}
	has_left(k);
}

void gateway_child_stop(struct keeper *k)
{
	struct gateway_child *g = &k->gateway;

	unlinkat(k->spec.task_dir, KEEPER_AGENT_SOCKET, 0);
	unlinkat(k->spec.task_dir, KEEPER_USER_SOCKET, 0);
	if (!g->agent_ev || !g->user_ev)
		return;
	if (g->pid)
		end_process(g);
	/* nothing inside will answer any more; closing this socket tells the process so */
	forget(g);
	event_del(g->agent_ev);
	event_del(g->user_ev);
	if (g->watch_ev)
		event_del(g->watch_ev);
	if (g->sync_timer)
		event_del(g->sync_timer);
}

void gateway_child_kill(struct keeper *k)
{
	if (k->gateway.pid)
		kill(k->gateway.pid, SIGKILL);
}
