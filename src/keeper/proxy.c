#include "keeper/parts.h"

#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include "sys/fd.h"

/* What the inside gives is a claim. */
static bool is_listening(int fd)
{
	int on = 0, domain = 0;
	socklen_t len = sizeof(on), domain_len = sizeof(domain);

	return !getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &on, &len) && on &&
	       !getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &domain_len) && domain == AF_INET;
}

/* In the new process. */
static void be_proxy(struct keeper *k)
{
	int keep[] = { k->proxy.fd };

	keeper_become("garth-proxy", keep, 1);
	k->spec.proxy(k->spec.arg, k->proxy.fd);
	_exit(0);
}

static void on_call(evutil_socket_t fd, short what, void *arg)
{
	struct keeper *k = arg;

	(void)fd;
	(void)what;
	if (k->proxy.pid || k->phase > PHASE_CLOSING)
		return;
	k->proxy.pid = fork();
	if (!k->proxy.pid)
		be_proxy(k);
	if (k->proxy.pid < 0)
		proxy_ended(k);
}

void proxy_open(struct keeper *k, int *fd)
{
	if (*fd < 0 || k->proxy.ev || !k->spec.proxy || !is_listening(*fd))
		return;
	k->proxy.fd = fd_steal(fd);
	k->proxy.ev = event_new(k->base, k->proxy.fd, EV_READ, on_call, k);
	if (k->proxy.ev)
		event_add(k->proxy.ev, NULL);
}

void proxy_ended(struct keeper *k)
{
	k->proxy.pid = 0;
	if (k->proxy.ev && k->phase <= PHASE_CLOSING)
		event_add(k->proxy.ev, NULL);
}

void proxy_stop(struct keeper *k)
{
	if (!k->proxy.ev)
		return;
	event_del(k->proxy.ev);
	if (k->proxy.pid > 0)
		kill(k->proxy.pid, SIGKILL);
	fd_closep(&k->proxy.fd);
	k->proxy.fd = -1;
}
