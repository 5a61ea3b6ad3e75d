#include "keeper/state.h"

#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/alloc.h"

#define RESUME_AT (16u << 10)
#define AT_ONCE   (64u << 10)

size_t client_behind(const struct client *c)
{
	return evbuffer_get_length(bufferevent_get_output(c->bev));
}

void client_send(struct client *c, enum wire_type type, const void *data, size_t len)
{
	struct wire_head h = { .type = type, .len = (uint32_t)len };

	if (c->closing)
		return;
	bufferevent_write(c->bev, &h, sizeof(h));
	if (len)
		bufferevent_write(c->bev, data, len);
}

/* Closes the connection after the client has read everything. */
static void close_after(struct client *c)
{
	c->closing = true;
	bufferevent_disable(c->bev, EV_READ);
	bufferevent_setwatermark(c->bev, EV_WRITE, 0, 0);
}

void client_exit(struct client *c, int code)
{
	int32_t value = code;

	client_send(c, WIRE_EXIT, &value, sizeof(value));
	close_after(c);
}

void client_fail(struct client *c, const struct err *e)
{
	client_send(c, WIRE_FAIL, e, sizeof(*e));
	close_after(c);
}

void client_free(struct client *c)
{
	struct keeper *k = c->k;

	for (size_t i = 0; i < CLIENTS_MAX; i++)
		if (k->clients[i] == c)
			k->clients[i] = NULL;
	if (c->cmd)
		command_leave(c->cmd, c, false);
	bufferevent_free(c->bev);
	evbuffer_free(c->in);
	free(c);
	if (k->listen_ev)
		event_add(k->listen_ev, NULL);
	phase_check(k, -1);
}

/* Handlers of frames. False closes the connection. The length was checked with the header. */

static bool on_exec(struct client *c, const char *data, size_t len)
{
	auto_order_cmd order = { 0 };
	struct err e = ERR_INIT;
	struct command *cmd = NULL;

	if (c->cmd || c->cancels || c->k->phase >= PHASE_DYING)
		return false;
	if (order_cmd_unpack(data, len, &order, &e) == 0)
		cmd = command_new(c->k, &order, &e);
	if (!cmd) {
		client_fail(c, &e);
		return true;
	}
	cmd->owner = c;
	c->whole = !cmd->tty;
	c->size = cmd->size;
	command_attach(cmd, c);
	if (c->k->phase == PHASE_OPEN)
		command_begin(cmd);
	return true;
}

static bool on_attach(struct client *c, const char *data, size_t len)
{
	struct err e = ERR_INIT;

	if (c->cmd || c->cancels)
		return false;
	memcpy(&c->size, data, len);
	if (c->k->main) {
		command_attach(c->k->main, c);
	} else {
		err_set(&e, ERR_NOTFOUND, "no command to attach to is running in the task");
		client_fail(c, &e);
	}
	return true;
}

static bool on_cancel(struct client *c, const char *data, size_t len)
{
	(void)data;
	(void)len;
	if (c->cmd || c->cancels)
		return false;
	c->cancels = true;
	phase_cancel(c->k);
	return true;
}

static bool on_port(struct client *c, const char *data, size_t len)
{
	struct err e = ERR_INIT;
	uint16_t outside;
	uint32_t port;

	memcpy(&port, data, len);
	if (c->cmd || c->cancels || c->k->phase >= PHASE_CLOSING || !port || port > UINT16_MAX)
		return false;
	if (ports_open(c->k, (uint16_t)port, &outside, &e) < 0) {
		client_fail(c, &e);
		return true;
	}
	port = outside;
	client_send(c, WIRE_PORT, &port, sizeof(port));
	return true;
}

static bool on_forward(struct client *c, const char *data, size_t len)
{
	uint32_t port;

	memcpy(&port, data, len);
	if (c->cmd || c->cancels || c->waits || c->k->phase >= PHASE_CLOSING || !port || port > UINT16_MAX)
		return false;
	proxies_forward(c, (uint16_t)port);
	return true;
}

static bool on_credentials(struct client *c, const char *data, size_t len)
{
	if (c->cmd || c->cancels || c->k->phase >= PHASE_CLOSING)
		return false;
	credentials_child_add(c->k, data, len);
	return true;
}

static bool on_stdin(struct client *c, const char *data, size_t len)
{
	uint32_t taken = (uint32_t)len;

	if (!c->cmd || c->in_end || evbuffer_get_length(c->in) + len > WIRE_WINDOW_BYTES)
		return false;
	if (!c->cmd->tty && c->cmd->owner != c) {
		client_send(c, WIRE_WINDOW, &taken, sizeof(taken)); /* only the owner's STDIN is used */
		return true;
	}
	if (c->cmd->state == COMMAND_RUNNING && c->cmd->in_fd < 0)
		return true;
	evbuffer_add(c->in, data, len);
	stream_feed(c->cmd);
	return true;
}

static bool on_stdin_end(struct client *c, const char *data, size_t len)
{
	(void)data;
	(void)len;
	if (!c->cmd)
		return false;
	c->in_end = true;
	stream_feed(c->cmd);
	return true;
}

static bool on_resize(struct client *c, const char *data, size_t len)
{
	if (!c->cmd)
		return false;
	memcpy(&c->size, data, len);
	if (c->cmd->state == COMMAND_RUNNING)
		command_resize(c->cmd);
	return true;
}

static bool on_signal(struct client *c, const char *data, size_t len)
{
	int32_t sig;

	memcpy(&sig, data, len);
	if (!c->cmd || sig < 1 || sig >= NSIG)
		return false;
	/* it has ended, and only the gateway's work is waited for */
	if (c->cmd->state == COMMAND_OVER && c->cmd != c->k->main &&
		(sig == SIGTERM || sig == SIGINT || sig == SIGHUP || sig == SIGQUIT))
		client_exit(c, c->cmd->exit_code);
	else
		command_signal(c->cmd, sig);
	return true;
}

static bool on_close_out(struct client *c, const char *data, size_t len)
{
	int32_t fd;

	memcpy(&fd, data, len);
	if (!c->cmd || fd < 1 || fd > 2)
		return false;
	c->muted[fd - 1] = true;
	if (c->cmd->owner == c && !c->cmd->tty)
		stream_close_out(c->cmd, fd - 1);
	return true;
}

static bool on_detach(struct client *c, const char *data, size_t len)
{
	(void)data;
	(void)len;
	if (c->cmd)
		command_leave(c->cmd, c, true);
	return false;
}

static bool (*const handlers[WIRE_TYPES])(struct client *c, const char *data, size_t len) = {
	[WIRE_EXEC] = on_exec,
	[WIRE_ATTACH] = on_attach,
	[WIRE_CANCEL] = on_cancel,
	[WIRE_PORT] = on_port,
	[WIRE_STDIN] = on_stdin,
	[WIRE_STDIN_END] = on_stdin_end,
	[WIRE_FORWARD] = on_forward,
	[WIRE_CREDENTIALS] = on_credentials,
	[WIRE_RESIZE] = on_resize,
	[WIRE_SIGNAL] = on_signal,
	[WIRE_CLOSE_OUT] = on_close_out,
	[WIRE_DETACH] = on_detach,
};

static void on_frames(struct bufferevent *bev, void *arg)
{
	struct evbuffer *in = bufferevent_get_input(bev);
	struct client *c = arg;
	struct wire_head h;

	while (!c->closing && evbuffer_copyout(in, &h, sizeof(h)) == sizeof(h)) {
		const char *data;

		if (!wire_head_ok(&h) || !handlers[h.type]) {
			client_free(c);
			return;
		}
		if (evbuffer_get_length(in) < sizeof(h) + h.len)
			return;
		data = (const char *)evbuffer_pullup(in, (ev_ssize_t)(sizeof(h) + h.len));
		if (!data || !handlers[h.type](c, data + sizeof(h), h.len)) {
			client_free(c);
			return;
		}
		evbuffer_drain(in, sizeof(h) + h.len);
	}
}

static void on_taken(struct bufferevent *bev, void *arg)
{
	struct client *c = arg;

	(void)bev;
	if (c->closing && !client_behind(c))
		client_free(c);
	else if (c->cmd)
		stream_pace(c->cmd);
}

static void on_event(struct bufferevent *bev, short what, void *arg)
{
	(void)bev;
	if (what & (BEV_EVENT_EOF | BEV_EVENT_ERROR))
		client_free(arg);
}

static void refuse(int fd)
{
	struct {
		struct wire_head h;
		struct err e;
	} f = { .h = { WIRE_FAIL, sizeof(struct err) } };

	err_set(&f.e, ERR_BUSY, "%d commands are connected to the task already", CLIENTS_MAX);
	send(fd, &f, sizeof(f), MSG_NOSIGNAL | MSG_DONTWAIT);
}

struct client *client_new(struct keeper *k, int fd)
{
	struct client *c;
	size_t i = 0;

	while (i < CLIENTS_MAX && k->clients[i])
		i++;
	if (i == CLIENTS_MAX) {
		refuse(fd);
		return NULL;
	}
	c = xcalloc(1, sizeof(*c));
	c->k = k;
	c->in = evbuffer_new();
	c->bev = bufferevent_socket_new(k->base, fd, BEV_OPT_CLOSE_ON_FREE);
	if (!c->in || !c->bev) {
		if (c->in)
			evbuffer_free(c->in);
		free(c);
		return NULL;
	}
	bufferevent_setcb(c->bev, on_frames, on_taken, on_event, c);
	bufferevent_setwatermark(c->bev, EV_WRITE, RESUME_AT, 0);
	bufferevent_set_max_single_read(c->bev, AT_ONCE);
	bufferevent_set_max_single_write(c->bev, AT_ONCE);
	bufferevent_enable(c->bev, EV_READ | EV_WRITE);
	k->clients[i] = c;
	return c;
}
