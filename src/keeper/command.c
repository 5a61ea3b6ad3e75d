#include "keeper/state.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clean.h"
#include "sys/fd.h"
#include "sys/owner.h"
#include "sys/proc.h"

#define HANGUP_SECONDS 5
#define NUDGE_USEC     60000

/* For the main command: sets its real size again after nudge. For another: it did not end after SIGHUP, so it
 * is killed. */
static void on_timer(evutil_socket_t fd, short what, void *arg)
{
	struct command *cmd = arg;

	(void)fd;
	(void)what;
	if (cmd == cmd->k->main)
		command_resize(cmd);
	else
		orders_signal(cmd, SIGKILL);
}

static struct command **free_slot(struct keeper *k)
{
	for (size_t i = 0; i < COMMANDS_MAX; i++)
		if (!k->commands[i])
			return &k->commands[i];
	return NULL;
}

struct command *command_new(struct keeper *k, const struct order_cmd *order, struct err *e)
{
	struct command **slot = free_slot(k), *cmd;
	auto_buf packed = BUF_INIT(ORDER_CMD_MAX);
	auto_fd fd = -1;

	if (!slot || !order->argv.n) {
		err_set(e, ERR_BUSY, slot ? "no command" : "%d commands run in the task already",
			COMMANDS_MAX);
		return NULL;
	}
	order_cmd_pack(order, &packed);
	if (packed.overflow) {
		err_set(e, ERR_USAGE, "the command and its environment are too long");
		return NULL;
	}
	fd = fd_of_bytes("command", packed.data, packed.len);
	if (fd < 0) {
		err_sys(e, "cannot pass the command on");
		return NULL;
	}
	cmd = xcalloc(1, sizeof(*cmd));
	*cmd = (struct command){
		.k = k, .id = ++k->last_id, .tty = order->tty, .in_fd = -1, .out_fd = { -1, -1 }
	};
	cmd->size = (struct wire_size){ order->rows, order->cols };
	cmd->order_fd = fd_steal(&fd);
	cmd->name = xstrndup(order->argv.v[0], 200);
	cmd->in = evbuffer_new();
	cmd->timer = evtimer_new(k->base, on_timer, cmd);
	*slot = cmd;
	return cmd;
}

void command_free(struct command *cmd)
{
	struct keeper *k = cmd->k;

	for (size_t i = 0; i < CLIENTS_MAX; i++)
		if (k->clients[i] && k->clients[i]->cmd == cmd)
			k->clients[i]->cmd = NULL;
	for (size_t i = 0; i < COMMANDS_MAX; i++)
		if (k->commands[i] == cmd)
			k->commands[i] = NULL;
	if (k->main == cmd)
		k->main = NULL;
	stream_close(cmd);
	if (cmd->order_fd >= 0)
		close(cmd->order_fd);
	if (cmd->timer)
		event_free(cmd->timer);
	if (cmd->in)
		evbuffer_free(cmd->in);
	free(cmd->tail.data);
	free(cmd->name);
	free(cmd);
}

struct command *command_by_id(struct keeper *k, uint32_t id)
{
	for (size_t i = 0; i < COMMANDS_MAX; i++)
		if (k->commands[i] && k->commands[i]->id == id)
			return k->commands[i];
	return NULL;
}

/* `echo x >/dev/stderr` opens the pipe again, which only its owner may do. If Garth runs as root, the inside
 * has another user. If fchown fails, all but that works. Both ends of a pipe are one inode. */
static void give_inside(int fd)
{
	struct owner o = owner_inside();

	if (owner_is_other() && fchown(fd, o.uid, o.gid) < 0)
		return;
}

/* The command's ends go to fds[0..2], the keeper's ends to the command. */
static int make_pipes(struct command *cmd, int fds[3])
{
	for (int i = 0; i < 3; i++) {
		int p[2];

		if (pipe2(p, O_CLOEXEC) < 0)
			return -1;
		give_inside(p[0]);
		fds[i] = p[i ? 1 : 0];
		if (i)
			cmd->out_fd[i - 1] = p[0];
		else
			cmd->in_fd = p[1];
		if (fd_nonblock(p[i ? 0 : 1]) < 0)
			return -1;
	}
	return 0;
}

void command_begin(struct command *cmd)
{
	int fds[4] = { cmd->order_fd, -1, -1, -1 };
	int rc = cmd->tty ? 0 : make_pipes(cmd, fds + 1);
	int saved;

	cmd->state = COMMAND_ASKED;
	if (!rc)
		rc = orders_start(cmd, fds, cmd->tty ? 1 : 4);
	saved = errno;
	for (int i = 0; i < 4; i++)
		if (fds[i] >= 0)
			close(fds[i]);
	cmd->order_fd = -1;
	if (rc < 0)
		command_not_started(cmd, saved, NULL);
}

static void welcome(struct command *cmd, struct client *c)
{
	struct wire_started w = { .tty = cmd->tty };

	client_send(c, WIRE_STARTED, &w, sizeof(w));
}

void command_started(struct command *cmd, int master)
{
	struct keeper *k = cmd->k;

	cmd->state = COMMAND_RUNNING;
	if (stream_open(cmd, master) < 0)
		orders_signal(cmd, SIGKILL);
	for (size_t i = 0; i < CLIENTS_MAX; i++)
		if (k->clients[i] && k->clients[i]->cmd == cmd)
			welcome(cmd, k->clients[i]);
	if (cmd == k->main)
		keeper_time_main(k);
	command_resize(cmd);
	if (cmd->pending_signal)
		orders_signal(cmd, cmd->pending_signal);
	stream_pace(cmd);
	stream_feed(cmd);
}

static void finish(struct command *cmd, int code)
{
	struct keeper *k = cmd->k;

	cmd->state = COMMAND_OVER;
	cmd->exit_code = code;
	if (cmd == k->main)
		phase_close(k, code);
	else
		phase_check(k, code);
	/* when the jail ends, clients get EXIT after everything inside is dead */
	if (k->phase >= PHASE_DYING || cmd == k->main)
		return;
	stream_drain(cmd);
	/* the last command's clients wait until the gateway has finished its work for it */
	if (!k->gateway.leaving)
		command_over(cmd);
}

void command_over(struct command *cmd)
{
	struct keeper *k = cmd->k;

	for (size_t i = 0; i < CLIENTS_MAX; i++)
		if (k->clients[i] && k->clients[i]->cmd == cmd)
			client_exit(k->clients[i], cmd->exit_code);
	command_free(cmd);
}

void command_not_started(struct command *cmd, int error, const struct err *why)
{
	struct keeper *k = cmd->k;
	auto_buf text = BUF_SMALL;

	buf_addstr(&text, "garth: ");
	if (why && why->msg[0])
		clean_text(&text, why->msg, strnlen(why->msg, sizeof(why->msg)), false);
	else
		buf_printf(&text, "cannot run '%s': %s", cmd->name, strerror(error));
	buf_addch(&text, '\n');
	for (size_t i = 0; i < CLIENTS_MAX; i++)
		if (k->clients[i] && k->clients[i]->cmd == cmd)
			client_send(k->clients[i], WIRE_ERR, text.data, text.len);
	finish(cmd, error == ENOENT ? 127 : 126);
}

void command_exited(struct command *cmd, int status)
{
	proxies_tell(cmd->k);
	finish(cmd, proc_exit_code(status) & 0xff);
}

void command_signal(struct command *cmd, int sig)
{
	if (cmd->state == COMMAND_RUNNING) {
		orders_signal(cmd, sig);
		/* a stopped process does not handle a signal before SIGCONT */
		if (sig == SIGTERM || sig == SIGINT || sig == SIGHUP || sig == SIGQUIT)
			orders_signal(cmd, SIGCONT);
	} else if (cmd->state < COMMAND_RUNNING) {
		cmd->pending_signal = sig;
	}
}

/* The smallest terminal of all clients; clients without a size (pipes) do not count. */
static struct wire_size smallest(const struct command *cmd)
{
	struct wire_size size = { 0, 0 };

	for (size_t i = 0; i < CLIENTS_MAX; i++) {
		const struct client *c = cmd->k->clients[i];

		if (!c || c->cmd != cmd || c->closing || !c->size.rows || !c->size.cols)
			continue;
		if (!size.rows || c->size.rows < size.rows)
			size.rows = c->size.rows;
		if (!size.cols || c->size.cols < size.cols)
			size.cols = c->size.cols;
	}
	return size.rows ? size : cmd->size;
}

static void set_size(const struct command *cmd, struct wire_size size)
{
	struct winsize w = { .ws_row = size.rows, .ws_col = size.cols };

	if (cmd->tty && cmd->out_fd[0] >= 0 && size.rows)
		ioctl(cmd->out_fd[0], TIOCSWINSZ, &w);
}

void command_resize(struct command *cmd)
{
	cmd->size = smallest(cmd);
	set_size(cmd, cmd->size);
}

/* A full-screen program redraws when its size changes. Many programs read the size some time after the signal
 * and do nothing if it is the old one, so the other size has to stay for a moment. */
static void nudge(struct command *cmd)
{
	struct timeval tv = { .tv_usec = NUDGE_USEC };
	struct wire_size other = cmd->size = smallest(cmd);

	if (!other.rows)
		return;
	other.rows = (uint16_t)(other.rows > 1 ? other.rows - 1 : 2);
	set_size(cmd, other);
	evtimer_add(cmd->timer, &tv);
}

void command_attach(struct command *cmd, struct client *c)
{
	auto_buf modes = BUF_SMALL;

	c->cmd = cmd;
	if (cmd->state != COMMAND_RUNNING)
		return;
	welcome(cmd, c);
	if (cmd->tty) {
		modes_set(&cmd->modes, &modes);
		if (modes.len)
			client_send(c, WIRE_OUT, modes.data, modes.len);
		tail_send(&cmd->tail, c);
		nudge(cmd);
	}
	if (cmd == cmd->k->main)
		phase_tell(cmd->k, c);
}

void command_leave(struct command *cmd, struct client *c, bool detached)
{
	struct timeval tv = { .tv_sec = HANGUP_SECONDS };
	bool owned = cmd->owner == c;

	c->cmd = NULL;
	if (owned)
		cmd->owner = NULL;
	if (cmd->state == COMMAND_OVER)
		return;
	if (cmd->tty || owned)
		evbuffer_add_buffer(cmd->in, c->in);
	if (owned && cmd->state == COMMAND_WAITING && cmd != cmd->k->main) {
		command_free(cmd);
		return;
	}
	if (owned && !detached && cmd != cmd->k->main) {
		command_signal(cmd, SIGHUP);
		evtimer_add(cmd->timer, &tv);
	}
	if (owned && !detached && cmd == cmd->k->main && cmd->k->spec.tied)
		keeper_untied(cmd->k);
	if (cmd->state != COMMAND_RUNNING)
		return;
	command_resize(cmd);
	stream_feed(cmd);
	stream_pace(cmd);
}
