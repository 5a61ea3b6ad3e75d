#include "keeper/state.h"

#include <errno.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sys/fd.h"
#include "sys/sock.h"

#define FDS_MAX  4
#define TAKE_MAX 512

static void on_born(struct keeper *k, const struct order_msg *m)
{
	siginfo_t info = { 0 };

	/* The keeper kills a process by pid only if it is its own child, and only the first one that was
	 * named. */
	if (k->first || k->phase != PHASE_ENTERING || m->value <= 1 || m->value == k->launch)
		return;
	/* without namespaces launch stays as the supervisor and ends everything */
	if (k->spec.jail->landlock_only)
		k->first = k->launch, k->launch = 0;
	else if (waitid(P_PID, (id_t)m->value, &info, WEXITED | WNOHANG | WNOWAIT) == 0)
		k->first = m->value;
	if (!k->first)
		return;
	k->starter = m->value;
	/* before it starts any command */
	if (cgroup_enter(&k->group, m->value) < 0) {
		struct err e = ERR_INIT;

		err_sys(&e, "cannot enter the task's control group");
		phase_fail(k, &e);
		return;
	}
	phase_born(k);
}

static void on_message(struct keeper *k, const struct order_msg *m, int *fd, size_t nfds)
{
	struct command *cmd = command_by_id(k, m->id);

	switch (m->type) {
	case ORDER_BORN:
		on_born(k, m);
		break;
	case ORDER_READY:
		proxies_open(k, fd);
		phase_ready(k);
		break;
	case ORDER_FAILED:
		phase_fail(k, &m->err);
		break;
	case ORDER_STARTED:
		if (!cmd)
			gateway_child_answer(k, m);
		if (cmd && cmd->state == COMMAND_ASKED)
			command_started(cmd, cmd->tty ? fd_steal(fd) : -1);
		break;
	case ORDER_NOT_STARTED:
		if (!cmd)
			gateway_child_answer(k, m);
		if (cmd && cmd->state == COMMAND_ASKED)
			command_not_started(cmd, m->value, &m->err);
		break;
	case ORDER_DIALED:
		ports_dialed(k, m, *fd);
		break;
	case ORDER_LISTENS:
		proxies_listens(k, m, fd, nfds);
		credentials_child_listens(k, m, fd, nfds);
		break;
	case ORDER_EXITED:
		if (!cmd)
			gateway_child_answer(k, m);
		if (cmd && (cmd->state == COMMAND_ASKED || cmd->state == COMMAND_RUNNING))
			command_exited(cmd, m->value);
		break;
	}
}

void orders_take(struct keeper *k)
{
	for (int i = 0; i < TAKE_MAX && k->orders >= 0; i++) {
		int fds[FDS_MAX];
		size_t nfds = FDS_MAX;
		struct order_msg m;
		ssize_t n = sock_recv(k->orders, &m, sizeof(m), fds, &nfds);

		if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
			return;
		if (n <= 0) {
			orders_close(k);
			if (k->phase == PHASE_OPEN || k->phase == PHASE_CLOSING)
				phase_end(k, 128 + SIGKILL);
			else
				event_active(k->chld_ev, EV_SIGNAL, 1);
			return;
		}
		if (!nfds)
			fds[0] = -1;
		if ((size_t)n == sizeof(m))
			on_message(k, &m, fds, nfds);
		for (size_t j = 0; j < nfds; j++)
			if (fds[j] >= 0)
				close(fds[j]);
	}
}

static void on_orders(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	orders_take(arg);
}

void orders_open(struct keeper *k, int fd)
{
	k->orders = fd;
	fd_nonblock(fd);
	k->orders_ev = event_new(k->base, fd, EV_READ | EV_PERSIST, on_orders, k);
	if (k->orders_ev)
		event_add(k->orders_ev, NULL);
}

void orders_close(struct keeper *k)
{
	if (k->orders < 0)
		return;
	if (k->orders_ev)
		event_free(k->orders_ev);
	k->orders_ev = NULL;
	close(fd_steal(&k->orders));
}

int orders_send(struct keeper *k, const struct order_msg *m, const int *fds, size_t nfds)
{
	if (k->orders < 0) {
		errno = EPIPE;
		return -1;
	}
	return sock_send(k->orders, m, sizeof(*m), fds, nfds);
}

int orders_start(struct command *cmd, const int *fds, size_t nfds)
{
	struct order_msg m = { .type = ORDER_START, .id = cmd->id };

	return orders_send(cmd->k, &m, fds, nfds);
}

/* If the first process does not read, the signal is lost. */
void orders_signal(struct command *cmd, int sig)
{
	struct order_msg m = { .type = ORDER_SIGNAL, .id = cmd->id, .value = sig };

	orders_send(cmd->k, &m, NULL, 0);
}
