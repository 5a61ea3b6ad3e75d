#include "keeper/keeper.h"

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "http/loop.h"
#include "keeper/state.h"
#include "sys/fd.h"
#include "sys/sock.h"

/* How long a command whose client is gone may take to end at the end of its input, and then after SIGINT. */
#define EOF_SECONDS       3
#define INTERRUPT_SECONDS 5

static void on_connect(evutil_socket_t fd, short what, void *arg)
{
	struct keeper *k = arg;
	auto_fd conn = accept4(fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	uid_t peer;

	(void)what;
	if (conn < 0) {
		/* out of descriptors: accept again after a client has left */
		if (errno == EMFILE || errno == ENFILE)
			event_del(k->listen_ev);
		return;
	}
	peer = sock_peer(conn);
	if (peer != geteuid() && peer != 0)
		return;
	if (client_new(k, conn))
		fd_steal(&conn);
}

int keeper_listen(struct keeper *k, const char *name, struct err *e)
{
	if (sock_listen(k->spec.task_dir, name, &k->listen_fd, e) < 0)
		return -1;
	k->listen_name = name;
	k->listen_ev = event_new(k->base, k->listen_fd, EV_READ | EV_PERSIST, on_connect, k);
	if (k->listen_ev)
		event_add(k->listen_ev, NULL);
	return 0;
}

void keeper_stop_listening(struct keeper *k)
{
	int conn;

	if (k->listen_fd < 0)
		return;
	unlinkat(k->spec.task_dir, k->listen_name, 0);
	if (k->listen_ev)
		event_free(k->listen_ev);
	k->listen_ev = NULL;
	while ((conn = accept4(k->listen_fd, NULL, NULL, SOCK_CLOEXEC)) >= 0)
		close(conn);
	close(fd_steal(&k->listen_fd));
}

void keeper_deadline(struct keeper *k, int seconds)
{
	struct timeval tv = { .tv_sec = seconds };

	if (seconds)
		evtimer_add(k->deadline, &tv);
	else
		evtimer_del(k->deadline);
}

static void on_deadline(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	phase_late(arg);
}

static void on_time_up(evutil_socket_t fd, short what, void *arg)
{
	struct keeper *k = arg;

	(void)fd;
	(void)what;
	if (k->cancelled || k->phase >= PHASE_CLOSING)
		return;
	k->timed_out = true;
	phase_cancel(k);
}

/* First the end of its input; then SIGINT, which says that a person has ended it (task/verdict.h); then as a cancelled
 * task. */
void keeper_untied(struct keeper *k)
{
	struct timeval tv = { .tv_sec = k->interrupted ? INTERRUPT_SECONDS : EOF_SECONDS };

	evtimer_add(k->untied, &tv);
}

static void on_untied(evutil_socket_t fd, short what, void *arg)
{
	struct keeper *k = arg;

	(void)fd;
	(void)what;
	if (k->cancelled || k->phase >= PHASE_CLOSING || !k->main || k->main->state >= COMMAND_OVER)
		return;
	if (k->interrupted) {
		phase_cancel(k);
		return;
	}
	k->interrupted = true;
	command_signal(k->main, SIGINT);
	keeper_untied(k);
}

void keeper_time_main(struct keeper *k)
{
	struct timeval tv = { .tv_sec = (time_t)k->spec.timeout };

	if (k->spec.timeout)
		evtimer_add(k->time_up, &tv);
}

static void on_term(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	phase_cancel(arg);
}

static void on_child(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	phase_reap(arg);
}

static void on_nothing(int sig)
{
	(void)sig;
}

/* Handlers, not SIG_IGN, because ignored signals stay ignored in programs that a process executes. */
static void set_signals(void)
{
	static const int deaf[] = { SIGHUP, SIGINT, SIGPIPE, SIGXFSZ };
	struct sigaction sa = { .sa_handler = SIG_DFL };
	sigset_t none;

	for (int sig = 1; sig < NSIG; sig++)
		sigaction(sig, &sa, NULL);
	sa = (struct sigaction){ .sa_handler = on_nothing, .sa_flags = SA_RESTART };
	for (size_t i = 0; i < sizeof(deaf) / sizeof(deaf[0]); i++)
		sigaction(deaf[i], &sa, NULL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

static int compare_ints(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

void keeper_close_all_but(int *keep, size_t n)
{
	unsigned from = 3;

	qsort(keep, n, sizeof(*keep), compare_ints);
	for (size_t i = 0; i < n; i++) {
		if (keep[i] < (int)from)
			continue;
		if (keep[i] > (int)from)
			close_range(from, (unsigned)keep[i] - 1, 0);
		from = (unsigned)keep[i] + 1;
	}
	close_range(from, ~0u, 0);
}

void keeper_become(const char *name, int *keep, size_t n)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	keeper_leave(name, keep, n);
}

void keeper_leave(const char *name, int *keep, size_t n)
{
	struct sigaction dfl = { .sa_handler = SIG_DFL };
	sigset_t none;

	prctl(PR_SET_NAME, name);
	for (int sig = 1; sig < NSIG; sig++)
		sigaction(sig, &dfl, NULL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	keeper_close_all_but(keep, n);
}

static void leave_caller(const struct keeper *k, int client)
{
	int keep[6 + KEEPER_PORTS_MAX] = { k->spec.task_dir, k->spec.lock_fd, client, k->gateway.agent,
		k->notifier, k->spec.credentials };
	const struct ports *ports = &k->ports;
	size_t n = 6;
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	setsid();
	set_signals();
	prctl(PR_SET_NAME, "garth-keeper");
	for (int fd = 0; fd < 3 && null >= 0; fd++)
		dup2(null, fd);
	for (size_t i = 0; i < ports->n; i++)
		keep[n++] = ports->v[i].fd;
	keeper_close_all_but(keep, n);
	if (chdir("/") < 0)
		_exit(1);
	/* give large blocks back to the system as soon as they are free */
	mallopt(M_MMAP_THRESHOLD, 32 << 10);
	mallopt(M_TRIM_THRESHOLD, 64 << 10);
}

static void open_main(struct keeper *k, struct client *c)
{
	const struct order_cmd *order = k->spec.main_cmd;
	struct err e = ERR_INIT;

	k->main = command_new(k, order, &e);
	if (!k->main) {
		phase_fail(k, &e);
		return;
	}
	c->whole = !order->tty;
	if (c->whole)
		k->main->owner = c;
	c->size = (struct wire_size){ order->rows, order->cols };
	command_attach(k->main, c);
}

/* Makes the sockets while the jail is being made, because nobody needs them before: creating a file can take
 * as long as all of the jail's mounts, in a directory of which much was just removed. */
static void listen_to_user(struct keeper *k)
{
	struct err e = ERR_INIT;

	if (k->phase != PHASE_ENTERING)
		return;
	if (keeper_listen(k, KEEPER_CONTROL_SOCKET, &e) < 0 || gateway_child_start(k, &e) < 0) {
		err_wrap(&e, "cannot start the task's keeper");
		phase_fail(k, &e);
		return;
	}
	ports_start(k);
	meter_start(k);
}

static void run(struct keeper *k, int client)
{
	struct client *c;

	k->base = loop_new(NULL);
	if (!k->base)
		return;
	k->term_ev = evsignal_new(k->base, SIGTERM, on_term, k);
	k->chld_ev = evsignal_new(k->base, SIGCHLD, on_child, k);
	k->deadline = evtimer_new(k->base, on_deadline, k);
	k->time_up = evtimer_new(k->base, on_time_up, k);
	k->untied = evtimer_new(k->base, on_untied, k);
	if (!k->term_ev || !k->chld_ev || !k->deadline || !k->time_up || !k->untied)
		return;
	event_add(k->term_ev, NULL);
	event_add(k->chld_ev, NULL);
	log_open(&k->log, k->spec.task_dir, k->spec.main_cmd ? k->spec.log_max : 0);
	c = client_new(k, client);
	if (!c)
		return;
	if (k->spec.main_cmd)
		open_main(k, c);
	phase_start(k);
	listen_to_user(k);
	event_base_dispatch(k->base);
}

static void close_ports(struct ports *p)
{
	for (size_t i = 0; i < p->n; i++)
		fd_closep(&p->v[i].fd);
}

static int listen_ports(const uint16_t *wanted, struct ports *ret, struct err *e)
{
	for (; wanted && *wanted; wanted++) {
		if (ret->n == KEEPER_PORTS_MAX)
			return err_set(e, ERR_USAGE, "a task has at most %d ports", KEEPER_PORTS_MAX);
		if (ports_listen(*wanted, &ret->v[ret->n], e) < 0)
			return -1;
		ret->n++;
	}
	return 0;
}

int keeper_start(const struct keeper_spec *spec, int *ret_client, struct err *e)
{
	__attribute__((cleanup(close_ports))) struct ports ports = { .n = 0 };
	auto_fd ours = -1, theirs = -1, notifier = -1;
	struct gateway_child gateway = { .agent = -1, .user = -1, .orders = -1, .watch = -1 };
	int pair[2];
	pid_t pid;

	/* left by a keeper that was killed; other processes may have these ports now */
	unlinkat(spec->task_dir, KEEPER_PORTS_FILE, 0);
	if (listen_ports(spec->ports, &ports, e) < 0 || gateway_child_listen(&gateway, spec, e) < 0)
		return err_wrap(e, "cannot start the task's keeper");
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
		return err_sys(e, "cannot start the task's keeper");
	ours = pair[0];
	theirs = pair[1];
	if (spec->notify)
		notifier = notifier_start(spec->notify);
	pid = fork();
	if (pid < 0) {
		err_sys(e, "cannot start the task's keeper");
		notifier_tell(notifier, NOTIFY_NOTHING, "");
		return -1;
	}
	if (!pid) {
		struct keeper k = { .spec = *spec,
			.gateway = gateway,
			.listen_fd = -1,
			.orders = -1,
			.ports = ports,
			.notifier = notifier };

		if (spec->group)
			k.group = *spec->group;
		proxies_init(&k);
		credentials_child_init(&k.credentials, spec->credentials);
		leave_caller(&k, theirs);
		fd_nonblock(theirs);
		run(&k, theirs);
		_exit(0);
	}
	fd_closep(&gateway.agent);
	*ret_client = fd_steal(&ours);
	return 0;
}
