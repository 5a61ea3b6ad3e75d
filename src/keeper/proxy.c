#include "keeper/parts.h"

#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/alloc.h"
#include "sys/fd.h"

/* What the inside gives is a claim. */
static bool is_listening(int fd)
{
	int on = 0, domain = 0;
	socklen_t len = sizeof(on), domain_len = sizeof(domain);

	return !getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &on, &len) && on &&
	       !getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &domain_len) &&
	       (domain == AF_INET || domain == AF_INET6);
}

/* In the new process. */
static void be_proxy(struct proxy_post *p)
{
	int keep[] = { p->io.listen[0], p->io.listen[1] };

	keeper_become("garth-proxy", keep, 2);
	p->k->spec.proxy(p->k->spec.arg, &p->io);
	_exit(0);
}

static void wait_for_calls(struct proxy_post *p)
{
	for (int i = 0; i < 2; i++)
		if (p->ev[i] && p->k->phase <= PHASE_CLOSING)
			event_add(p->ev[i], NULL);
}

static void on_call(evutil_socket_t fd, short what, void *arg)
{
	struct proxy_post *p = arg;

	(void)fd;
	(void)what;
	if (p->pid || p->k->phase > PHASE_CLOSING)
		return;
	p->pid = fork();
	if (!p->pid)
		be_proxy(p);
	if (p->pid < 0) {
		p->pid = 0;
		wait_for_calls(p);
	}
}

static void take_socket(struct proxy_post *p, int i, int *fd)
{
	if (*fd < 0 || p->ev[i] || !p->k->spec.proxy || !is_listening(*fd))
		return;
	p->io.listen[i] = fd_steal(fd);
	p->ev[i] = event_new(p->k->base, p->io.listen[i], EV_READ, on_call, p);
	if (p->ev[i])
		event_add(p->ev[i], NULL);
}

static struct proxy_post *new_post(struct keeper *k, uint16_t forward)
{
	struct proxy_post *p = &k->proxies.v[k->proxies.n++];

	*p = (struct proxy_post){ .k = k, .io = { { -1, -1 }, forward } };
	return p;
}

void proxy_init(struct keeper *k)
{
	new_post(k, 0);
}

static void order_listen(struct proxy_post *p)
{
	struct order_msg m = { .type = ORDER_LISTEN, .id = ++p->k->last_id, .value = p->io.forward };

	p->asked = m.id;
	if (orders_send(p->k, &m, NULL, 0) < 0)
		p->asked = 0;
}

void proxy_order(struct keeper *k)
{
	for (const uint16_t *f = k->spec.forwards; f && *f && k->proxies.n <= KEEPER_FORWARDS_MAX; f++)
		order_listen(new_post(k, *f));
}

void proxy_open(struct keeper *k, int *fd)
{
	take_socket(&k->proxies.v[0], 0, fd);
}

static void tell_not_forwarded(const struct proxy_post *p, int error)
{
	auto_str text =
		xasprintf("port %d of localhost is not forwarded: %s", p->io.forward, strerror(error));

	life_note(p->k, text);
}

void proxy_listens(struct keeper *k, const struct order_msg *m, int *fds, size_t nfds)
{
	for (size_t i = 1; m->id && i < k->proxies.n; i++) {
		struct proxy_post *p = &k->proxies.v[i];

		if (p->asked != m->id)
			continue;
		p->asked = 0;
		if (m->value)
			tell_not_forwarded(p, m->value);
		for (size_t j = 0; j < 2 && j < nfds; j++)
			take_socket(p, (int)j, &fds[j]);
		return;
	}
}

void proxy_ended(struct keeper *k, pid_t pid)
{
	for (size_t i = 0; i < k->proxies.n; i++)
		if (k->proxies.v[i].pid == pid) {
			k->proxies.v[i].pid = 0;
			wait_for_calls(&k->proxies.v[i]);
		}
}

static void stop_one(struct proxy_post *p)
{
	for (int i = 0; i < 2; i++) {
		if (p->ev[i])
			event_del(p->ev[i]);
		fd_closep(&p->io.listen[i]);
		p->io.listen[i] = -1;
	}
	if (p->pid > 0)
		kill(p->pid, SIGKILL);
}

void proxy_stop(struct keeper *k)
{
	for (size_t i = 0; i < k->proxies.n; i++)
		stop_one(&k->proxies.v[i]);
}
