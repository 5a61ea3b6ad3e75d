#include "keeper/state.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "egress/relay.h"
#include "sys/fd.h"

int ports_listen(uint16_t inside, struct port *ret, struct err *e)
{
	struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof(at);
	auto_fd fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd < 0 || bind(fd, (struct sockaddr *)&at, sizeof(at)) < 0 || listen(fd, 64) < 0 ||
		getsockname(fd, (struct sockaddr *)&at, &len) < 0)
		return err_sys(e, "cannot open a port for port %d of the task", inside);
	*ret = (struct port){ .inside = inside, .outside = ntohs(at.sin_port), .fd = fd_steal(&fd) };
	return 0;
}

/* Writes KEEPER_PORTS_FILE for other commands; not possible on a full disk, which is ignored. */
static void tell(const struct keeper *k)
{
	auto_buf text = BUF_SMALL;
	struct err ignored = ERR_INIT;

	for (size_t i = 0; i < k->ports.n; i++)
		buf_printf(&text, "%d %d\n", k->ports.v[i].inside, k->ports.v[i].outside);
	write_file(k->spec.task_dir, KEEPER_PORTS_FILE, buf_str(&text), text.len, 0600, &ignored);
}

static struct dial *free_dial(struct keeper *k)
{
	for (size_t i = 0; i < DIALS_MAX; i++)
		if (!k->ports.dials[i].id && !k->ports.dials[i].pid)
			return &k->ports.dials[i];
	return NULL;
}

/* Asks the jail to connect inside. If all slots are in use, the connection waits in the queue. */
static void on_connect(evutil_socket_t fd, short what, void *arg)
{
	struct port *p = arg;
	struct keeper *k = p->k;
	struct dial *d = free_dial(k);
	struct order_msg m = { .type = ORDER_DIAL, .value = p->inside };
	int client;

	(void)what;
	if (!d) {
		event_del(p->ev);
		return;
	}
	client = accept4((int)fd, NULL, NULL, SOCK_CLOEXEC);
	if (client < 0)
		return;
	m.id = ++k->last_id;
	if (orders_send(k, &m, NULL, 0) < 0)
		close(client);
	else
		*d = (struct dial){ .id = m.id, .client = client };
}

static bool is_stream(int fd)
{
	int type = 0;
	socklen_t len = sizeof(type);

	return fd >= 0 && !getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &len) && type == SOCK_STREAM;
}

static void listen_again(struct keeper *k)
{
	for (size_t i = 0; i < k->ports.n; i++)
		if (k->ports.v[i].ev && k->phase <= PHASE_CLOSING)
			event_add(k->ports.v[i].ev, NULL);
}

static void forget(struct keeper *k, struct dial *d)
{
	if (d->client >= 0)
		close(d->client);
	*d = (struct dial){ .client = -1 };
	listen_again(k);
}

static void be_relay(int client, int inside)
{
	int keep[] = { client, inside };

	keeper_become("garth-port", keep, ARRAY_SIZE(keep));
	relay(client, inside);
	_exit(0);
}

void ports_dialed(struct keeper *k, const struct order_msg *m, int fd)
{
	struct dial *d = NULL;

	for (size_t i = 0; m->id && i < DIALS_MAX; i++)
		if (k->ports.dials[i].id == m->id)
			d = &k->ports.dials[i];
	if (!d)
		return;
	d->id = 0;
	d->pid = is_stream(fd) ? fork() : -1;
	if (!d->pid)
		be_relay(d->client, fd);
	if (d->pid < 0) {
		/* nobody listens inside: the client gets a reset */
		struct linger now = { .l_onoff = 1 };

		setsockopt(d->client, SOL_SOCKET, SO_LINGER, &now, sizeof(now));
		forget(k, d);
		return;
	}
	close(fd_steal(&d->client));
}

void ports_ended(struct keeper *k, pid_t pid)
{
	for (size_t i = 0; i < DIALS_MAX; i++)
		if (k->ports.dials[i].pid == pid)
			forget(k, &k->ports.dials[i]);
}

static void open_one(struct keeper *k, struct port *p)
{
	p->k = k;
	p->ev = event_new(k->base, p->fd, EV_READ | EV_PERSIST, on_connect, p);
	if (p->ev)
		event_add(p->ev, NULL);
}

void ports_start(struct keeper *k)
{
	for (size_t i = 0; i < DIALS_MAX; i++)
		k->ports.dials[i].client = -1;
	for (size_t i = 0; i < k->ports.n; i++)
		open_one(k, &k->ports.v[i]);
	if (k->ports.n)
		tell(k);
	else /* left by a keeper that was killed */
		unlinkat(k->spec.task_dir, KEEPER_PORTS_FILE, 0);
}

int ports_open(struct keeper *k, uint16_t inside, uint16_t *ret, struct err *e)
{
	struct port *p = &k->ports.v[k->ports.n];

	for (size_t i = 0; i < k->ports.n; i++)
		if (k->ports.v[i].inside == inside) {
			*ret = k->ports.v[i].outside;
			return 0;
		}
	if (k->ports.n == KEEPER_PORTS_MAX)
		return err_set(e, ERR_FAILED, "a task has at most %d ports", KEEPER_PORTS_MAX);
	if (ports_listen(inside, p, e) < 0)
		return -1;
	k->ports.n++;
	open_one(k, p);
	tell(k);
	*ret = p->outside;
	return 0;
}

void ports_stop(struct keeper *k)
{
	for (size_t i = 0; i < k->ports.n; i++) {
		if (k->ports.v[i].ev)
			event_free(k->ports.v[i].ev);
		k->ports.v[i].ev = NULL;
		fd_closep(&k->ports.v[i].fd);
	}
	for (size_t i = 0; i < DIALS_MAX; i++)
		if (k->ports.dials[i].pid > 0)
			kill(k->ports.dials[i].pid, SIGKILL);
	if (k->ports.n)
		unlinkat(k->spec.task_dir, KEEPER_PORTS_FILE, 0);
	k->ports.n = 0;
}
