#include "credentials/server.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/alloc.h"
#include "credentials/control.h"
#include "credentials/renew.h"
#include "sys/clock.h"
#include "sys/fd.h"
#include "sys/sock.h"

#define FDS_FIRST 4 /* the control socket, the listening ones, the connections from the other proxy */
#define FDS_MAX   (FDS_FIRST + 2 * CONNS_MAX + TRANSFERS_FDS)
#define POLL_MS   10000

static void be_quick(int fd)
{
	int on = 1;

	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
}

static void take_table(struct server *s, int fd, struct err *e)
{
	auto_buf packed = BUF_INIT(VAULT_MAX);

	if (!read_rest(fd, &packed, "the table of credentials", e))
		vault_unpack(packed.data, packed.len, &s->table, e);
	if (packed.data)
		explicit_bzero(packed.data, packed.len);
}

/* Takes a message from the control socket (control.h). Returns the number of bytes. */
static ssize_t take_order(struct server *s, struct err *e)
{
	char message = 0;
	int fds[4];
	size_t nfds = ARRAY_SIZE(fds);
	ssize_t n = sock_recv(s->control, &message, sizeof(message), fds, &nfds);

	if (n <= 0)
		return n;
	if (nfds && message == CREDENTIALS_TABLE)
		take_table(s, fds[0], e);
	if (nfds && message == CREDENTIALS_OVER && s->over < 0)
		s->over = fd_steal(&fds[0]);
	for (size_t i = 0; i < nfds; i++) {
		if (message == CREDENTIALS_TABLE && i && i < 3 && s->listen[i - 1] < 0)
			s->listen[i - 1] = fd_steal(&fds[i]);
		else
			fd_closep(&fds[i]);
	}
	return n;
}

/* Takes a connection from the other proxy: the host's name, a NUL, what the client has sent already. */
static void take_over(struct server *s)
{
	static char message[CREDENTIALS_OVER_MAX];
	int fd = -1;
	size_t nfds = 1;
	ssize_t n = sock_recv(s->over, message, sizeof(message), &fd, &nfds);
	size_t name = n > 0 ? strnlen(message, (size_t)n) : 0;

	if (n <= 0)
		fd_closep(&s->over), s->over = -1;
	if (!nfds)
		return;
	if (!name || name == (size_t)n) {
		close(fd);
		return;
	}
	be_quick(fd);
	conn_open_tls(s, fd, message, message + name + 1, (size_t)n - name - 1);
}

static void accept_one(struct server *s, int listen)
{
	int fd = accept4(listen, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

	if (fd < 0)
		return;
	be_quick(fd);
	conn_open(s, fd);
}

static bool is_full(const struct server *s)
{
	for (size_t i = 0; i < CONNS_MAX; i++)
		if (!s->conns[i])
			return false;
	return true;
}

/* The descriptors to wait for; whose[i] is the connection of fds[i], if it is one. */
static size_t watch(const struct server *s, struct pollfd *fds, struct conn **whose)
{
	bool full = is_full(s);
	size_t n = 0;

	fds[n++] = (struct pollfd){ s->control, POLLIN, 0 };
	for (int i = 0; i < 2; i++)
		fds[n++] = (struct pollfd){ s->listen[i], full ? 0 : POLLIN, 0 };
	fds[n++] = (struct pollfd){ full ? -1 : s->over, POLLIN, 0 };
	for (size_t i = 0; i < CONNS_MAX; i++) {
		struct conn *c = s->conns[i];
		bool reads, writes;

		if (!c)
			continue;
		reads = conn_wants_more(c) && !c->gone;
		writes = conn_has_output(c);
		whose[n] = c;
		/* a connection that is not waited for is left out: otherwise its hang-up would wake the loop again and
		 * again */
		fds[n++] = (struct pollfd){ reads || writes ? c->fd : -1,
			(short)((reads ? POLLIN : 0) | (writes ? POLLOUT : 0)), 0 };
		if (c->renewal.fd < 0)
			continue;
		whose[n] = c;
		fds[n++] = (struct pollfd){ c->renewal.fd, POLLIN, 0 };
	}
	return n;
}

static void finish_transfers(struct server *s)
{
	CURLMsg *m;
	int left;

	while ((m = curl_multi_info_read(s->transfers.curl, &left))) {
		struct conn *c = NULL;
		CURLcode result = m->data.result;

		if (m->msg != CURLMSG_DONE)
			continue;
		curl_easy_getinfo(m->easy_handle, CURLINFO_PRIVATE, (char **)&c);
		upstream_done(c, result);
		conn_work(c);
	}
}

static bool is_late(const struct conn *c)
{
	time_t silent = clock_seconds() - c->since;

	if (c->up.easy || c->renewal.pid)
		return c->out.len && silent > IDLE_SECONDS;
	return silent > (c->state == CONN_HEAD && !c->in.len ? IDLE_SECONDS : HEAD_SECONDS);
}

static void flush_all(struct server *s)
{
	for (size_t i = 0; i < CONNS_MAX; i++) {
		struct conn *c = s->conns[i];

		if (c && conn_flush(c) && is_late(c))
			conn_free(c);
	}
}

static bool still_there(const struct server *s, const struct conn *c)
{
	for (size_t i = 0; i < CONNS_MAX; i++)
		if (s->conns[i] == c)
			return true;
	return false;
}

/* Whether bytes of a client wait in OpenSSL's buffers. No descriptor is ready for those. */
static bool has_more(const struct conn *c)
{
	return c && c->tls && !c->gone && c->state != CONN_LAST && conn_wants_more(c) && tls_has_more(c->tls);
}

/* Reads these bytes. False if there were none. */
static bool serve_waiting(struct server *s)
{
	bool any = false;

	for (size_t i = 0; i < CONNS_MAX; i++) {
		if (!has_more(s->conns[i]))
			continue;
		conn_readable(s->conns[i]);
		any = true;
	}
	return any;
}

static void serve_ready(struct server *s, const struct pollfd *fds, struct conn **whose, size_t n)
{
	for (size_t i = FDS_FIRST; i < n; i++) {
		if (!(fds[i].revents & ~POLLOUT) || !still_there(s, whose[i]))
			continue;
		if (fds[i].fd == whose[i]->fd)
			conn_readable(whose[i]);
		else
			renew_readable(whose[i]);
	}
	for (int i = 0; i < 2; i++)
		if (fds[1 + i].revents)
			accept_one(s, s->listen[i]);
	if (fds[3].revents)
		take_over(s);
}

static int loop(struct server *s, struct err *e)
{
	static struct pollfd fds[FDS_MAX];
	static struct conn *whose[FDS_MAX];

	for (bool waiting = false;;) {
		size_t n = watch(s, fds, whose), curls = transfers_watch(&s->transfers, fds + n);
		struct err ignored = ERR_INIT;

		if (poll(fds, n + curls, waiting ? 0 : transfers_wait(&s->transfers, POLL_MS)) < 0) {
			if (errno == EINTR)
				continue;
			return err_sys(e, "cannot wait for connections");
		}
		if (fds[0].revents && take_order(s, &ignored) <= 0)
			return 0;
		serve_ready(s, fds, whose, n);
		waiting = serve_waiting(s);
		transfers_serve(&s->transfers, fds + n, curls);
		finish_transfers(s);
		flush_all(s);
	}
}

int server_run(int control, struct err *e)
{
	static struct server s;

	s = (struct server){ .control = control, .listen = { -1, -1 }, .over = -1 };
	if (getrandom(s.key, sizeof(s.key), 0) != sizeof(s.key))
		return err_sys(e, "cannot get random bytes");
	if (transfers_open(&s.transfers, e) < 0)
		return -1;
	upstream_trust(&s.trust);
	if (take_order(&s, e) <= 0 || s.listen[0] < 0)
		return err_set(e, ERR_FAILED, "no table of credentials arrived");
	return loop(&s, e);
}
