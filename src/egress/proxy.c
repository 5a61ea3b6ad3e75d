#include "egress/proxy.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "audit/audit.h"
#include "base/alloc.h"
#include "egress/dial.h"
#include "egress/hand_over.h"
#include "egress/relay.h"
#include "egress/request.h"
#include "sys/clock.h"
#include "sys/fd.h"
#include "sys/rate_limit.h"
#include "task/context.h"
#include "task/network.h"
#include "task/refused.h"
#include "task/task.h"

/* What became of a request; the table says what the client is told. */
enum outcome {
	OUTCOME_OPEN,
	OUTCOME_REFUSED,
	OUTCOME_PRIVATE, /* the name is on the list, but its address is private and not listed */
	OUTCOME_MALFORMED,
	OUTCOME_UNKNOWN,
	OUTCOME_UNREACHABLE
};

static const struct {
	const char *http;
	char socks;
	enum asked_why why; /* what the store records */
} outcomes[] = {
	[OUTCOME_OPEN] = { "200 Connection established", 0, ASKED_UNKNOWN },
	[OUTCOME_REFUSED] = { "403 Forbidden", 2, ASKED_NOT_LISTED },
	[OUTCOME_PRIVATE] = { "403 Forbidden", 2, ASKED_PRIVATE },
	[OUTCOME_MALFORMED] = { "400 Bad Request", 1, ASKED_NOT_LISTED },
	[OUTCOME_UNKNOWN] = { "502 Bad Gateway", 4, ASKED_NO_NAME },
	[OUTCOME_UNREACHABLE] = { "502 Bad Gateway", 5, ASKED_NO_ANSWER },
};

/* The connection's task, as it is at this moment. */
struct caller {
	struct context c;
	struct task t;
	struct network net;
};

static void caller_release(struct caller *k)
{
	network_release(&k->net);
	task_release(&k->t);
	context_close(&k->c);
}
#define auto_caller __attribute__((cleanup(caller_release))) struct caller

/* If something cannot be read, the list is empty and everything is refused. */
static void caller_open(const struct proxy *p, struct caller *ret)
{
	struct err ignored = ERR_INIT;
	auto_fd dir = -1;

	*ret = (struct caller){ .c.home.fd = -1 };
	if (context_open(&ret->c, &ignored) < 0 || context_store(&ret->c, &ignored) < 0 ||
		store_task_by_id(ret->c.store, p->task, &ret->t, &ignored) < 0 ||
		home_task_dir(&ret->c.home, ret->t.id, &dir, &ignored) < 0)
		return;
	network_load(dir, true, &ret->net, &ignored);
	/* connecting may take long, and the store must not stay open meanwhile */
	context_close_store(&ret->c);
}

/* The agent may think that the host is down; a user who watches is told what really happened: in a message
 * with the entry that would allow the host, a NUL, and a sentence. */
static void tell_user(
	const struct proxy *p, const struct caller *k, const struct request *r, enum outcome o, char *address)
{
	struct asked a = {
		.host = (char *)r->host.name, .port = r->host.port, .why = outcomes[o].why, .address = address
	};
	auto_str entry = NULL, text = NULL;
	struct err ignored = ERR_INIT;
	auto_fd dir = -1;
	auto_buf message = BUF_INIT(PROXY_NOTE_MAX);

	if (p->notes < 0 || !k->t.id || (o != OUTCOME_REFUSED && o != OUTCOME_PRIVATE))
		return;
	home_task_dir(&k->c.home, k->t.id, &dir, &ignored);
	if (refused_is_quiet(&k->c.config, dir, &a))
		return;
	text = refused_sentence(&k->net.allow, &a, k->t.name, &entry);
	if (!text)
		return;
	buf_add(&message, entry, strlen(entry) + 1);
	buf_addstr(&message, text);
	if (!message.overflow)
		(void)!send(p->notes, message.data, message.len, MSG_DONTWAIT | MSG_NOSIGNAL);
}

static void record(
	struct caller *k, const struct request *r, enum outcome o, const char *address, const char *why)
{
	const char *host = *r->host.name ? r->host.name : r->asked;
	struct err ignored = ERR_INIT;
	auto_audit audit = NULL;

	if (!k->t.id || context_store(&k->c, &ignored) < 0)
		return;
	if (!audit_open(k->c.home.fd, k->c.store, &audit, &ignored))
		audit_add(audit, o == OUTCOME_OPEN ? "connect" : "connect-refused", &k->t,
			json_pack("{s:o, s:i, s:o, s:o}", "host", audit_text(host), "port", r->host.port,
				"address", audit_text(address), "why", audit_text(why)),
			&ignored);
	store_asked_add(k->c.store, k->t.id,
		&(struct asked){ .host = (char *)host,
			.port = r->host.port,
			.open = o == OUTCOME_OPEN,
			.why = outcomes[o].why,
			.address = (char *)(o == OUTCOME_PRIVATE ? address : "") },
		&ignored);
	context_close_store(&k->c);
}

static void tell(int fd, const struct request *r, enum outcome o, const char *why)
{
	char socks[10] = { 5, outcomes[o].socks, 0, 1 };
	auto_buf text = BUF_INIT(8192);

	if (r->kind == REQUEST_SOCKS) {
		(void)!write_full(fd, socks, sizeof(socks));
		return;
	}
	if (o == OUTCOME_OPEN) {
		if (r->kind == REQUEST_CONNECT)
			buf_printf(&text, "HTTP/1.1 %s\r\n\r\n", outcomes[o].http);
	} else {
		auto_buf body = BUF_INIT(4096);

		buf_printf(&body, "BLOCKED: %s\nYou tried to: connect to %s\n", why, r->asked);
		if (o == OUTCOME_REFUSED || o == OUTCOME_PRIVATE)
			buf_addstr(
				&body, "Instead, you should: do without it, or ask the user to allow it\n");
		buf_printf(&text,
			"HTTP/1.1 %s\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: %zu\r\n"
			"Connection: close\r\n\r\n%s",
			outcomes[o].http, body.len, buf_str(&body));
	}
	(void)!write_full(fd, buf_str(&text), text.len);
}

/* Reads until the request is complete. Bytes in `data` after the request are for the server. */
static int take_request(int fd, struct buf *data, struct request *r)
{
	time_t end = clock_seconds() + PROXY_HEAD_SECONDS;
	bool greeted = false;

	for (;;) {
		struct pollfd p = { fd, POLLIN, 0 };
		int rc = request_parse(buf_str(data), data->len, greeted, r);
		char *space;
		ssize_t n;

		if (rc == 2) {
			memmove(data->data, data->data + r->used, data->len - r->used);
			buf_cut(data, data->len - r->used);
			greeted = true;
			if (write_full(fd, "\5\0", 2) < 0)
				return 0;
			continue;
		}
		if (rc)
			return rc;
		request_release(r);
		space = data->len < REQUEST_MAX ? buf_reserve(data, REQUEST_MAX - data->len) : NULL;
		if (!space || clock_seconds() >= end || poll(&p, 1, 1000 * PROXY_HEAD_SECONDS) <= 0)
			return 0;
		n = read(fd, space, REQUEST_MAX - data->len);
		if (n <= 0)
			return 0;
		data->len += (size_t)n;
		data->data[data->len] = '\0';
	}
}

static enum outcome outcome_of(const struct err *e)
{
	return e->kind == ERR_REFUSED    ? OUTCOME_REFUSED
	       : e->kind == ERR_NOTFOUND ? OUTCOME_UNKNOWN
					 : OUTCOME_UNREACHABLE;
}

static enum outcome reach(const struct proxy *p, const struct strvec *list, const struct host *h, int *ret,
	char *address, struct err *e)
{
	if (host_is_loopback(h))
		return dial_loopback(list, h->port, ret, address, e) < 0 ? outcome_of(e) : OUTCOME_OPEN;
	if (!hosts_allow(list, h)) {
		err_set(e, ERR_REFUSED, "%s:%u is not on this task's list", h->name, h->port);
		return OUTCOME_REFUSED;
	}
	if (is_handed_over(p, h))
		return OUTCOME_OPEN;
	if (!dial(list, h, ret, address, e))
		return OUTCOME_OPEN;
	return e->kind == ERR_REFUSED ? OUTCOME_PRIVATE : outcome_of(e);
}

/* Serves one connection, in its own process. */
static void serve_request(const struct proxy *p, int fd)
{
	char address[INET6_ADDRSTRLEN] = "";
	auto_buf data = BUF_INIT(REQUEST_MAX + 1);
	struct request r = { 0 };
	struct err e = ERR_INIT;
	enum outcome o = OUTCOME_MALFORMED;
	auto_caller k = { .c.home.fd = -1 };
	auto_fd there = -1;
	int rc = take_request(fd, &data, &r);

	if (!rc)
		return;
	caller_open(p, &k);
	if (rc > 0)
		o = reach(p, &k.net.allow, &r.host, &there, address, &e);
	else
		err_set(&e, ERR_REFUSED, "this request is not understood: %s", r.why);
	record(&k, &r, o, address, e.msg);
	/* before the answer: a command that ends after it must not end before the user is told */
	tell_user(p, &k, &r, o, address);
	tell(fd, &r, o, e.msg);
	if (o == OUTCOME_OPEN && there < 0)
		hand_over(p, fd, &r.host, data.data + r.used, data.len - r.used);
	else if (o == OUTCOME_OPEN && write_full(there, buf_str(&r.head), r.head.len) >= 0 &&
		 write_full(there, data.data + r.used, data.len - r.used) >= 0)
		relay(fd, there);
	request_release(&r);
}

/* The same for a forwarded port, where the client sends no request. A refusal is a TCP reset, as from a port
 * on which nobody listens. */
static void forward(const struct proxy *p, int fd)
{
	const struct linger now = { .l_onoff = 1 };
	struct request r = { .host = { .name = "localhost", .port = p->forward } };
	char address[INET6_ADDRSTRLEN] = "";
	struct err e = ERR_INIT;
	auto_caller k = { .c.home.fd = -1 };
	auto_fd there = -1;
	enum outcome o;

	caller_open(p, &k);
	o = reach(p, &k.net.allow, &r.host, &there, address, &e);
	record(&k, &r, o, address, e.msg);
	if (o == OUTCOME_OPEN)
		relay(fd, there);
	else
		setsockopt(fd, SOL_SOCKET, SO_LINGER, &now, sizeof(now));
}

static void reap(unsigned *children, bool wait)
{
	while (*children && waitpid(-1, NULL, wait ? 0 : WNOHANG) > 0) {
		--*children;
		wait = false;
	}
}

static void take(const struct proxy *p, int listen, unsigned *children)
{
	auto_fd fd = accept4(listen, NULL, NULL, SOCK_CLOEXEC);
	pid_t self = getpid(), pid;

	if (fd < 0)
		return;
	pid = fork();
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (int i = 0; i < 2; i++)
			if (p->listen[i] >= 0)
				close(p->listen[i]);
		if (getppid() == self)
			(p->forward ? forward : serve_request)(p, fd);
		close(fd_steal(&fd));
		_exit(0);
	}
	*children += pid > 0;
}

void proxy_serve(const struct proxy *p)
{
	time_t last = clock_seconds();
	struct rate_limit pace;
	unsigned children = 0;

	rate_limit_init(&pace);
	signal(SIGPIPE, SIG_IGN);
	while (children || clock_seconds() - last < (time_t)p->linger) {
		struct pollfd fds[2] = { { p->listen[0], POLLIN, 0 }, { p->listen[1], POLLIN, 0 } };

		if (poll(fds, 2, 1000) > 0) {
			for (int i = 0; i < 2; i++) {
				if (fds[i].revents & (POLLERR | POLLHUP | POLLNVAL))
					return;
				if (!fds[i].revents)
					continue;
				rate_limit_wait(&pace);
				take(p, p->listen[i], &children);
			}
			last = clock_seconds();
		}
		reap(&children, children >= PROXY_CONNECTIONS_MAX);
	}
}
