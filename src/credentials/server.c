#include "credentials/server.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/alloc.h"
#include "credentials/renew.h"
#include "sys/clock.h"
#include "sys/fd.h"
#include "sys/sock.h"

#define FDS_MAX (3 + 2 * CONNS_MAX)

/* Takes a table from the control socket, and with the first one the listening sockets. Returns the number of bytes. */
static ssize_t take_table(struct server *s, struct err *e)
{
	char message;
	int fds[4];
	size_t nfds = ARRAY_SIZE(fds);
	ssize_t n = sock_recv(s->control, &message, sizeof(message), fds, &nfds);
	auto_buf packed = BUF_INIT(VAULT_MAX);

	if (n <= 0)
		return n;
	if (nfds && !read_rest(fds[0], &packed, "the table of credentials", e))
		vault_unpack(packed.data, packed.len, &s->table, e);
	if (packed.data)
		explicit_bzero(packed.data, packed.len);
	for (size_t i = 0; i < nfds; i++) {
		if (i && i < 3 && s->listen[i - 1] < 0)
			s->listen[i - 1] = fd_steal(&fds[i]);
		else
			close(fds[i]);
	}
	return n;
}

static void accept_one(struct server *s, int listen)
{
	int fd = accept4(listen, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK), on = 1;

	if (fd < 0)
		return;
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
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
static unsigned watch(const struct server *s, struct curl_waitfd *fds, struct conn **whose)
{
	bool full = is_full(s);
	unsigned n = 0;

	fds[n++] = (struct curl_waitfd){ s->control, CURL_WAIT_POLLIN, 0 };
	for (int i = 0; i < 2; i++)
		fds[n++] = (struct curl_waitfd){ s->listen[i], full ? 0 : CURL_WAIT_POLLIN, 0 };
	for (size_t i = 0; i < CONNS_MAX; i++) {
		struct conn *c = s->conns[i];
		bool reads, writes;

		if (!c)
			continue;
		/* a client that does not read its answers cannot send more requests */
		reads = c->in.len < HEAD_MAX && c->out.len - c->sent < OUT_HIGH;
		writes = c->sent < c->out.len;
		whose[n] = c;
		/* if we do not wait for a connection, its hang-up would still wake us again and again */
		fds[n++] = (struct curl_waitfd){ reads || writes ? c->fd : -1,
			(short)((reads ? CURL_WAIT_POLLIN : 0) | (writes ? CURL_WAIT_POLLOUT : 0)), 0 };
		if (c->renewal.fd < 0)
			continue;
		whose[n] = c;
		fds[n++] = (struct curl_waitfd){ c->renewal.fd, CURL_WAIT_POLLIN, 0 };
	}
	return n;
}

static void finish_transfers(struct server *s)
{
	CURLMsg *m;
	int left;

	while ((m = curl_multi_info_read(s->multi, &left))) {
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

static void serve_ready(struct server *s, const struct curl_waitfd *fds, struct conn **whose, unsigned n)
{
	for (unsigned i = 3; i < n; i++) {
		if (!(fds[i].revents & ~CURL_WAIT_POLLOUT) || !still_there(s, whose[i]))
			continue;
		if (fds[i].fd == whose[i]->fd)
			conn_readable(whose[i]);
		else
			renew_readable(whose[i]);
	}
	for (int i = 0; i < 2; i++)
		if (fds[1 + i].revents)
			accept_one(s, s->listen[i]);
}

static int loop(struct server *s, struct err *e)
{
	static struct curl_waitfd fds[FDS_MAX];
	static struct conn *whose[FDS_MAX];

	for (;;) {
		int running, ready;
		unsigned n = watch(s, fds, whose);
		struct err ignored = ERR_INIT;

		if (curl_multi_poll(s->multi, fds, n, 10000, &ready) != CURLM_OK)
			return err_set(e, ERR_FAILED, "cannot wait for connections");
		if (fds[0].revents && take_table(s, &ignored) <= 0)
			return 0;
		serve_ready(s, fds, whose, n);
		curl_multi_perform(s->multi, &running);
		finish_transfers(s);
		flush_all(s);
	}
}

int server_run(int control, struct err *e)
{
	static struct server s;

	s = (struct server){ .control = control, .listen = { -1, -1 } };
	if (getrandom(s.key, sizeof(s.key), 0) != sizeof(s.key))
		return err_sys(e, "cannot get random bytes");
	if (curl_global_init(CURL_GLOBAL_DEFAULT) || !(s.multi = curl_multi_init()))
		return err_set(e, ERR_FAILED, "cannot start curl");
	upstream_trust(&s.trust);
	if (take_table(&s, e) <= 0 || s.listen[0] < 0)
		return err_set(e, ERR_FAILED, "no table of credentials arrived");
	return loop(&s, e);
}
