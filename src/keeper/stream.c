#include "keeper/state.h"

#include <errno.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sys/fd.h"

/* How many bytes all clients together may be behind. The keeper stays small: each client's share shrinks with
 * their number. */
#define BEHIND_MAX (2u << 20)
#define SHARE_MAX  (256u << 10)
#define SHARE_MIN  (32u << 10)
#define PIECE      (32u << 10)
#define DRAIN_MAX  (1u << 20) /* more than a pipe holds */

static size_t share(const struct keeper *k)
{
	size_t n = 1, part;

	for (size_t i = 0; i < CLIENTS_MAX; i++)
		n += k->clients[i] != NULL;
	part = BEHIND_MAX / n;
	return part > SHARE_MAX ? SHARE_MAX : part < SHARE_MIN ? SHARE_MIN : part;
}

/* The owner sets the pace. Without an owner, the fastest client does. */
static bool may_read(const struct command *cmd)
{
	size_t least = SIZE_MAX;

	if (cmd->owner)
		return client_behind(cmd->owner) < share(cmd->k);
	for (size_t i = 0; i < CLIENTS_MAX; i++) {
		const struct client *c = cmd->k->clients[i];

		if (c && c->cmd == cmd && client_behind(c) < least)
			least = client_behind(c);
	}
	return least == SIZE_MAX || least < share(cmd->k);
}

void stream_pace(struct command *cmd)
{
	bool go = may_read(cmd);

	for (int i = 0; i < 2; i++) {
		if (!cmd->out_ev[i])
			continue;
		if (go)
			event_add(cmd->out_ev[i], NULL);
		else
			event_del(cmd->out_ev[i]);
	}
}

/* Drops the clients that are furthest behind, except owners. */
static void shed(struct keeper *k)
{
	for (;;) {
		struct client *worst = NULL;
		size_t total = 0;

		for (size_t i = 0; i < CLIENTS_MAX; i++) {
			struct client *c = k->clients[i];

			if (!c)
				continue;
			total += client_behind(c);
			if (c->cmd && c->cmd->owner != c && client_behind(c) > SHARE_MAX &&
				(!worst || client_behind(c) > client_behind(worst)))
				worst = c;
		}
		if (total <= BEHIND_MAX || !worst)
			return;
		client_free(worst);
	}
}

static void deliver(struct command *cmd, int which, const char *data, size_t len)
{
	struct keeper *k = cmd->k;

	if (cmd == k->main) {
		log_write(&k->log, data, len);
		if (cmd->tty) {
			tail_add(&cmd->tail, data, len);
			modes_feed(&cmd->modes, data, len);
		}
	}
	for (size_t i = 0; i < CLIENTS_MAX; i++) {
		struct client *c = k->clients[i];

		if (c && c->cmd == cmd && !c->muted[which])
			client_send(c, which ? WIRE_ERR : WIRE_OUT, data, len);
	}
	shed(k);
}

/* False if there is nothing more for now. A terminal whose other side is closed gives EIO. */
static bool read_once(struct command *cmd, int which)
{
	static char piece[PIECE];
	ssize_t n = read(cmd->out_fd[which], piece, sizeof(piece));

	if (n > 0) {
		deliver(cmd, which, piece, (size_t)n);
		return true;
	}
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return false;
	stream_close_out(cmd, which);
	return false;
}

static void on_output(evutil_socket_t fd, short what, void *arg)
{
	struct command *cmd = arg;

	(void)what;
	read_once(cmd, fd == cmd->out_fd[0] ? 0 : 1);
	stream_pace(cmd);
}

void stream_drain(struct command *cmd)
{
	for (int i = 0; i < 2; i++) {
		size_t pieces = DRAIN_MAX / 4096;

		while (cmd->out_fd[i] >= 0 && pieces-- && read_once(cmd, i))
			;
	}
}

static struct evbuffer *next_input(struct command *cmd, struct client **from)
{
	*from = NULL;
	if (evbuffer_get_length(cmd->in))
		return cmd->in;
	for (size_t i = 0; i < CLIENTS_MAX; i++) {
		struct client *c = cmd->k->clients[i];

		if (!c || c->cmd != cmd || !(cmd->tty || c == cmd->owner) || !evbuffer_get_length(c->in))
			continue;
		*from = c;
		return c->in;
	}
	return NULL;
}

static void close_in(struct command *cmd)
{
	if (cmd->in_ev)
		event_free(cmd->in_ev);
	cmd->in_ev = NULL;
	if (cmd->in_fd >= 0 && !cmd->tty)
		close(cmd->in_fd);
	cmd->in_fd = -1;
}

void stream_feed(struct command *cmd)
{
	struct evbuffer *b;
	struct client *from;

	if (cmd->state != COMMAND_RUNNING || cmd->in_fd < 0)
		return;
	while ((b = next_input(cmd, &from))) {
		int n = evbuffer_write(b, cmd->in_fd);
		uint32_t taken = (uint32_t)n;

		if (n < 0 && (errno == EAGAIN || errno == EINTR)) {
			event_add(cmd->in_ev, NULL);
			return;
		}
		if (n <= 0) {
			/* nobody will read it; without a WINDOW the client stops sending */
			evbuffer_drain(b, evbuffer_get_length(b));
			if (cmd->tty)
				continue;
			close_in(cmd);
			return;
		}
		if (from)
			client_send(from, WIRE_WINDOW, &taken, sizeof(taken));
	}
	if (!cmd->tty && (!cmd->owner || cmd->owner->in_end))
		close_in(cmd);
}

static void on_input(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	stream_feed(arg);
}

/* Whether what the jail calls a terminal is a pty's master. */
static bool is_master(int fd)
{
	unsigned number;
	struct stat st;

	return fd >= 0 && !fstat(fd, &st) && S_ISCHR(st.st_mode) && !ioctl(fd, TIOCGPTN, &number);
}

int stream_open(struct command *cmd, int master)
{
	if (cmd->tty) {
		if (!is_master(master) || fd_nonblock(master) < 0) {
			if (master >= 0)
				close(master);
			return -1;
		}
		cmd->in_fd = cmd->out_fd[0] = master;
	}
	cmd->in_ev = event_new(cmd->k->base, cmd->in_fd, EV_WRITE, on_input, cmd);
	for (int i = 0; i < 2; i++)
		if (cmd->out_fd[i] >= 0)
			cmd->out_ev[i] =
				event_new(cmd->k->base, cmd->out_fd[i], EV_READ | EV_PERSIST, on_output, cmd);
	return cmd->in_ev ? 0 : -1;
}

void stream_close_out(struct command *cmd, int which)
{
	if (cmd->out_ev[which])
		event_free(cmd->out_ev[which]);
	cmd->out_ev[which] = NULL;
	if (cmd->tty)
		close_in(cmd);
	if (cmd->out_fd[which] >= 0)
		close(fd_steal(&cmd->out_fd[which]));
}

void stream_close(struct command *cmd)
{
	close_in(cmd);
	stream_close_out(cmd, 0);
	stream_close_out(cmd, 1);
}
