#include "keeper/state.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/alloc.h"
#include "sys/fd.h"

#define LINGER_SECONDS 30
#define TELL_AT_ONCE   64

/* What the inside sends is a claim, so it is checked. */
bool proxies_is_listening(int fd)
{
	int on = 0, domain = 0;
	socklen_t len = sizeof(on), domain_len = sizeof(domain);

	return !getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &on, &len) && on &&
	       !getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &domain_len) &&
	       (domain == AF_INET || domain == AF_INET6);
}

/* The bit of a refused host in a client's `told`. REFUSED_MAX stands for all further ones. */
static size_t number_of(struct proxies *p, const char *entry)
{
	size_t i = 0;

	while (i < p->nrefused && strcmp(p->refused[i], entry) != 0)
		i++;
	if (i == p->nrefused && i < REFUSED_MAX)
		p->refused[p->nrefused++] = xstrdup(entry);
	return i;
}

static void tell_all(struct keeper *k, const char *entry, const char *text)
{
	size_t number = number_of(&k->proxies, entry);
	auto_str more = number < REFUSED_MAX
				? NULL
				: xasprintf("the task asks for more hosts that are not on its list: "
					    "garth show %s",
					  k->spec.task_name);
	const char *told = more ? more : text;

	for (size_t i = 0; i < CLIENTS_MAX; i++) {
		struct client *c = k->clients[i];

		if (!c || !c->cmd || c->told & 1u << number)
			continue;
		c->told |= 1u << number;
		client_send(c, WIRE_REFUSED, told, strnlen(told, WIRE_NOTE_MAX));
	}
}

void proxies_tell(struct keeper *k)
{
	char message[PROXY_NOTE_MAX + 1];

	for (int i = 0; i < TELL_AT_ONCE && k->proxies.notes[0] >= 0; i++) {
		ssize_t n = recv(k->proxies.notes[0], message, PROXY_NOTE_MAX, MSG_DONTWAIT);
		size_t entry;

		if (n <= 0)
			return;
		message[n] = '\0';
		entry = strlen(message);
		if (entry + 1 < (size_t)n)
			tell_all(k, message, message + entry + 1);
	}
}

static void on_note(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	proxies_tell(arg);
}

/* Called before the first process is forked. If it fails, refusals are only recorded. */
static void open_notes(struct keeper *k)
{
	struct proxies *p = &k->proxies;

	if (p->notes[0] >= 0 || socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, p->notes) < 0)
		return;
	p->notes_ev = event_new(k->base, p->notes[0], EV_READ | EV_PERSIST, on_note, k);
	if (p->notes_ev)
		event_add(p->notes_ev, NULL);
}

static void be_proxy(struct proxy_child *p)
{
	int over = p->k->credentials.over[1];
	int keep[] = { p->proxy.listen[0], p->proxy.listen[1], p->k->proxies.notes[1], over };

	p->proxy.notes = p->k->proxies.notes[1];
	p->proxy.over = over;
	p->proxy.handed_over = p->k->spec.handed_over;
	keeper_become("garth-proxy", keep, 4);
	proxy_serve(&p->proxy);
	_exit(0);
}

static void wait_for_calls(struct proxy_child *p)
{
	for (int i = 0; i < 2; i++)
		if (p->ev[i] && p->k->phase <= PHASE_CLOSING)
			event_add(p->ev[i], NULL);
}

static void on_call(evutil_socket_t fd, short what, void *arg)
{
	struct proxy_child *p = arg;

	(void)fd;
	(void)what;
	if (p->pid || p->k->phase > PHASE_CLOSING)
		return;
	open_notes(p->k);
	p->pid = fork();
	if (!p->pid)
		be_proxy(p);
	if (p->pid < 0) {
		p->pid = 0;
		wait_for_calls(p);
	}
}

static void take_socket(struct proxy_child *p, int i, int *fd)
{
	if (*fd < 0 || p->ev[i] || !proxies_is_listening(*fd))
		return;
	p->proxy.listen[i] = fd_steal(fd);
	p->ev[i] = event_new(p->k->base, p->proxy.listen[i], EV_READ, on_call, p);
	if (p->ev[i])
		event_add(p->ev[i], NULL);
}

static struct proxy_child *new_post(struct keeper *k, uint16_t forward)
{
	struct proxy_child *p = &k->proxies.v[k->proxies.n++];

	*p = (struct proxy_child){ .k = k,
		.proxy = { .listen = { -1, -1 },
			.forward = forward,
			.task = k->spec.task,
			.over = -1,
			.notes = -1,
			.linger = LINGER_SECONDS } };
	return p;
}

void proxies_init(struct keeper *k)
{
	k->proxies.notes[0] = k->proxies.notes[1] = -1;
	new_post(k, 0);
}

static void order_listen(struct proxy_child *p)
{
	struct order_msg m = { .type = ORDER_LISTEN, .id = ++p->k->last_id, .value = p->proxy.forward };

	p->asked = m.id;
	if (orders_send(p->k, &m, NULL, 0) < 0)
		p->asked = 0;
}

void proxies_order(struct keeper *k)
{
	for (const uint16_t *f = k->spec.forwards; f && *f && k->proxies.n <= KEEPER_FORWARDS_MAX; f++)
		order_listen(new_post(k, *f));
}

void proxies_open(struct keeper *k, int *fd)
{
	take_socket(&k->proxies.v[0], 0, fd);
}

static void answer(struct client *c, uint16_t forward, int error)
{
	uint32_t port = forward;
	struct err e = ERR_INIT;

	c->waits = 0;
	if (!error) {
		client_send(c, WIRE_FORWARD, &port, sizeof(port));
		return;
	}
	err_set(&e, error == EADDRINUSE ? ERR_BUSY : ERR_FAILED,
		"port %d of localhost cannot be forwarded: %s", forward,
		error == EADDRINUSE ? "something inside listens on it" : strerror(error));
	client_fail(c, &e);
}

static void tell_not_forwarded(const struct proxy_child *p, int error)
{
	auto_str text =
		xasprintf("port %d of localhost is not forwarded: %s", p->proxy.forward, strerror(error));

	phase_note(p->k, text);
}

void proxies_forward(struct client *c, uint16_t port)
{
	struct keeper *k = c->k;
	struct proxy_child *p = NULL;

	for (size_t i = 1; i < k->proxies.n; i++)
		if (k->proxies.v[i].proxy.forward == port)
			p = &k->proxies.v[i];
	if (p && p->ev[0]) {
		answer(c, port, 0);
		return;
	}
	/* without a proxy there is no list that the port could be on */
	if (!p && (k->proxies.n > KEEPER_FORWARDS_MAX || !k->spec.jail->listens)) {
		answer(c, port, k->spec.jail->listens ? ENOSPC : EOPNOTSUPP);
		return;
	}
	if (!p)
		p = new_post(k, port);
	if (!p->asked)
		order_listen(p);
	c->waits = p->asked;
	if (!c->waits)
		answer(c, port, EPIPE);
}

/* Answers the clients that asked for it. If there are none and it failed, tells everybody. */
static void answer_all(const struct proxy_child *p, uint32_t id, int error)
{
	bool any = false;

	for (size_t i = 0; i < CLIENTS_MAX; i++) {
		struct client *c = p->k->clients[i];

		if (!c || c->waits != id)
			continue;
		answer(c, p->proxy.forward, error);
		any = true;
	}
	if (error && !any)
		tell_not_forwarded(p, error);
}

void proxies_listens(struct keeper *k, const struct order_msg *m, int *fds, size_t nfds)
{
	for (size_t i = 1; m->id && i < k->proxies.n; i++) {
		struct proxy_child *p = &k->proxies.v[i];

		if (p->asked != m->id)
			continue;
		p->asked = 0;
		for (size_t j = 0; j < 2 && j < nfds; j++)
			take_socket(p, (int)j, &fds[j]);
		answer_all(p, m->id, p->ev[0] ? 0 : m->value > 0 ? m->value : EIO);
		return;
	}
}

void proxies_ended(struct keeper *k, pid_t pid)
{
	for (size_t i = 0; i < k->proxies.n; i++)
		if (k->proxies.v[i].pid == pid) {
			k->proxies.v[i].pid = 0;
			wait_for_calls(&k->proxies.v[i]);
		}
}

static void stop_one(struct proxy_child *p)
{
	for (int i = 0; i < 2; i++) {
		if (p->ev[i])
			event_del(p->ev[i]);
		fd_closep(&p->proxy.listen[i]);
		p->proxy.listen[i] = -1;
	}
	if (p->pid > 0)
		kill(p->pid, SIGKILL);
}

void proxies_stop(struct keeper *k)
{
	for (size_t i = 0; i < k->proxies.n; i++)
		stop_one(&k->proxies.v[i]);
	proxies_tell(k);
	if (k->proxies.notes_ev)
		event_del(k->proxies.notes_ev);
}
