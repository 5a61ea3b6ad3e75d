#include "keeper/credentials_child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/alloc.h"
#include "credentials/control.h"
#include "keeper/state.h"
#include "sys/fd.h"
#include "sys/proc.h"
#include "sys/sock.h"

void credentials_child_init(struct credentials_child *c, int table)
{
	*c = (struct credentials_child){ .listen = { -1, -1 }, .control = -1, .over = { -1, -1 } };
	if (table >= 0)
		c->tables[c->n++] = table;
}

static void be_program(struct keeper *k, int control)
{
	char *argv[] = { NULL, NULL };
	struct err ignored = ERR_INIT;
	int keep[] = { CREDENTIALS_CONTROL_FD };

	if (proc_find_part(CREDENTIALS_PROGRAM, &argv[0], &ignored) < 0)
		_exit(1);
	(void)k;
	if (control == CREDENTIALS_CONTROL_FD ? fcntl(control, F_SETFD, 0) < 0
					      : dup2(control, CREDENTIALS_CONTROL_FD) < 0)
		_exit(1);
	keeper_become(CREDENTIALS_PROGRAM, keep, 1);
	execve(argv[0], argv, environ);
	_exit(1);
}

static void close_tables(struct credentials_child *c)
{
	while (c->n)
		close(c->tables[--c->n]);
}

/* Sends the tables, the first with the listening sockets. */
static void send_tables(struct credentials_child *c, bool first)
{
	for (size_t i = 0; i < c->n; i++) {
		const int fds[3] = { c->tables[i], c->listen[0], c->listen[1] };
		size_t n = !first || i ? 1 : c->listen[1] >= 0 ? 3 : 2;

		sock_send(c->control, &(char){ CREDENTIALS_TABLE }, 1, fds, n);
	}
	close_tables(c);
}

/* From here on connections arrive there, and if the program ends they fail. */
static void send_over(struct credentials_child *c)
{
	if (c->over[0] < 0)
		return;
	sock_send(c->control, &(char){ CREDENTIALS_OVER }, 1, &c->over[0], 1);
	fd_closep(&c->over[0]);
	c->over[0] = -1;
}

static void start(struct keeper *k)
{
	struct credentials_child *c = &k->credentials;
	auto_fd theirs = -1;
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return;
	c->control = pair[0];
	theirs = pair[1];
	c->pid = fork();
	if (!c->pid)
		be_program(k, theirs);
	if (c->pid > 0) {
		send_tables(c, true);
		send_over(c);
		return;
	}
	c->pid = 0;
	fd_closep(&c->control);
	c->control = -1;
}

static void on_call(evutil_socket_t fd, short what, void *arg)
{
	struct keeper *k = arg;

	(void)fd;
	(void)what;
	if (!k->credentials.pid && k->credentials.n && k->phase <= PHASE_CLOSING)
		start(k);
}

static void watch(struct keeper *k, int i, int fd)
{
	struct credentials_child *c = &k->credentials;

	c->ev[i] = event_new(k->base, fd, EV_READ, on_call, k);
	if (c->ev[i])
		event_add(c->ev[i], NULL);
}

/* Before any other proxy is started, since it inherits an end. */
static void open_over(struct keeper *k)
{
	struct credentials_child *c = &k->credentials;

	if (!k->spec.handed_over || !k->spec.handed_over->n || c->over[1] >= 0 ||
		socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, c->over) < 0)
		return;
	watch(k, 2, c->over[0]);
}

void credentials_child_order(struct keeper *k)
{
	struct credentials_child *c = &k->credentials;
	struct order_msg m = { .type = ORDER_LISTEN, .value = CREDENTIALS_PORT };

	/* without a network of its own, a task has no place for the sockets */
	if (!c->n || c->asked || c->ev[0] || !k->spec.jail->listens)
		return;
	open_over(k);
	m.id = c->asked = ++k->last_id;
	if (orders_send(k, &m, NULL, 0) < 0)
		c->asked = 0;
}

void credentials_child_add(struct keeper *k, const char *data, size_t len)
{
	struct credentials_child *c = &k->credentials;
	int fd = c->n < CREDENTIALS_TABLES_MAX ? fd_of_bytes("credentials", data, len) : -1;

	if (fd < 0)
		return;
	c->tables[c->n++] = fd;
	if (c->pid)
		send_tables(c, false);
	else if (c->ev[0])
		event_add(c->ev[0], NULL);
	else
		credentials_child_order(k);
}

static void take_socket(struct keeper *k, int i, int *fd)
{
	struct credentials_child *c = &k->credentials;

	if (*fd < 0 || c->ev[i] || !proxies_is_listening(*fd))
		return;
	c->listen[i] = fd_steal(fd);
	watch(k, i, c->listen[i]);
}

void credentials_child_listens(struct keeper *k, const struct order_msg *m, int *fds, size_t nfds)
{
	struct credentials_child *c = &k->credentials;

	if (!m->id || c->asked != m->id)
		return;
	c->asked = 0;
	for (size_t i = 0; i < 2 && i < nfds; i++)
		take_socket(k, (int)i, &fds[i]);
	if (!c->ev[0])
		phase_note(k, "the credentials proxy cannot listen inside: the agent's log-in does not work");
}

/* Then a connection from inside is refused, and does not wait for an answer that never comes. */
static void close_sockets(struct credentials_child *c)
{
	for (int i = 0; i < 3; i++) {
		if (c->ev[i])
			event_free(c->ev[i]);
		c->ev[i] = NULL;
	}
	for (int i = 0; i < 2; i++) {
		fd_closep(&c->listen[i]);
		c->listen[i] = -1;
	}
	fd_closep(&c->over[0]);
	c->over[0] = -1;
}

void credentials_child_ended(struct keeper *k, pid_t pid)
{
	struct credentials_child *c = &k->credentials;

	if (!c->pid || c->pid != pid)
		return;
	c->pid = 0;
	fd_closep(&c->control);
	c->control = -1;
	close_sockets(c);
	/* the table is gone with it */
	if (k->phase <= PHASE_OPEN)
		phase_note(k,
			"the credentials proxy has ended: the agent's log-in works again when the task is resumed");
}

void credentials_child_stop(struct keeper *k)
{
	struct credentials_child *c = &k->credentials;

	close_sockets(c);
	close_tables(c);
	if (c->pid > 0)
		kill(c->pid, SIGKILL);
}
