#include "cli/terminal.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/deadline.h"
#include "cli/deferred_lines.h"
#include "cli/say.h"
#include "keeper/modes.h"
#include "sys/fd.h"
#include "sys/output_queue.h"

/* Output that could not be written yet; beyond it, nothing is read from the keeper. */
#define WAITING_MAX (256u << 10)
#define QUEUE_MAX   (1u << 20)

static const int passed_on[] = { SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2 };
/* SIGTTIN and SIGTTOU are only blocked: a session in the background is not stopped when it uses the
 * terminal. */
static const int others[] = { SIGWINCH, SIGCONT, SIGTTIN, SIGTTOU, SIGPIPE };

struct terminal {
	int conn, signals;
	const struct terminal_opts *o;
	struct terminal_result *ret;
	struct err *e;
	struct output_queue out[2]; /* stdout, stderr */
	bool told_closed[2];
	struct buf rx, tx;
	size_t tx_at;
	bool tx_dead, heard, started, tty, stdin_end, done, failed;
	bool stdin_is_tty, raw;
	size_t credit; /* bytes of STDIN that may be sent */
	struct termios before, during;
	sigset_t old_mask;
	struct keys keys;
	struct deadline hold; /* until then, keys.held is held back */
	struct modes modes;
	struct deferred_lines deferred;
};

int terminal_size(struct wire_size *s)
{
	struct winsize w;

	for (int fd = 0; fd < 3; fd++) {
		if (ioctl(fd, TIOCGWINSZ, &w) < 0 || !w.ws_row || !w.ws_col)
			continue;
		*s = (struct wire_size){ w.ws_row, w.ws_col };
		return 0;
	}
	*s = (struct wire_size){ 24, 80 };
	return -1;
}

void terminal_fill_std(void)
{
	int fd;

	do
		fd = open("/dev/null", O_RDWR);
	while (fd >= 0 && fd < 3);
	if (fd >= 3)
		close(fd);
}

static void send_frame(struct terminal *t, enum wire_type type, const void *data, size_t len)
{
	struct wire_head h = { .type = type, .len = (uint32_t)len };

	if (t->tx_dead || t->tx.max - t->tx.len < sizeof(h) + len)
		return;
	buf_add(&t->tx, &h, sizeof(h));
	if (len)
		buf_add(&t->tx, data, len);
}

/* If sending fails, the keeper may still have sent something to us. */
static void flush_conn(struct terminal *t)
{
	size_t rest;

	while (!t->tx_dead && t->tx_at < t->tx.len) {
		ssize_t n = send(
			t->conn, t->tx.data + t->tx_at, t->tx.len - t->tx_at, MSG_DONTWAIT | MSG_NOSIGNAL);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN)
			break;
		if (n < 0)
			t->tx_dead = true;
		else
			t->tx_at += (size_t)n;
	}
	rest = t->tx_dead ? 0 : t->tx.len - t->tx_at;
	if (rest && t->tx_at)
		memmove(t->tx.data, t->tx.data + t->tx_at, rest);
	buf_cut(&t->tx, rest);
	t->tx_at = 0;
}

static void end_with(struct terminal *t, enum terminal_end end, int code)
{
	if (t->done)
		return;
	*t->ret = (struct terminal_result){ .end = end, .exit_code = code, .unseen = t->o->detach_at_once };
	t->done = true;
}

static void leave(struct terminal *t, bool hung_up)
{
	if (hung_up && !t->o->detach) {
		end_with(t, TERMINAL_EXIT, 128 + SIGHUP);
		return;
	}
	send_frame(t, WIRE_DETACH, NULL, 0);
	end_with(t, TERMINAL_DETACHED, 0);
}

static bool in_foreground(void)
{
	pid_t group = tcgetpgrp(0);

	return group < 0 || group == getpgrp();
}

/* Unblocks SIGTTOU: a process in the background stops here until it gets the terminal, as every full-screen
 * program does. */
static void enter_raw(struct terminal *t)
{
	sigset_t ttou;

	if (tcgetattr(0, &t->before) < 0)
		return;
	t->during = t->before;
	cfmakeraw(&t->during);
	sigemptyset(&ttou);
	sigaddset(&ttou, SIGTTOU);
	sigprocmask(SIG_UNBLOCK, &ttou, NULL);
	t->raw = tcsetattr(0, TCSANOW, &t->during) == 0;
	sigprocmask(SIG_BLOCK, &ttou, NULL);
}

static void leave_raw(struct terminal *t)
{
	auto_buf reset = BUF_SMALL;

	if (!t->tty)
		return;
	if (isatty(1) && !t->out[0].dead) {
		modes_unset(&t->modes, &reset);
		output_queue_add(&t->out[0], buf_str(&reset), reset.len);
		output_queue_flush(&t->out[0]);
	}
	if (t->raw)
		tcsetattr(0, TCSANOW, &t->before);
	t->raw = false;
}

static void send_size(struct terminal *t)
{
	struct wire_size size;

	if (t->tty && terminal_size(&size) == 0)
		send_frame(t, WIRE_RESIZE, &size, sizeof(size));
}

static void on_started(struct terminal *t, const char *data)
{
	struct wire_started w;

	memcpy(&w, data, sizeof(w));
	t->started = true;
	if (t->o->detach_at_once) {
		leave(t, false);
		return;
	}
	t->tty = w.tty;
	if (t->tty && t->stdin_is_tty)
		enter_raw(t);
	send_size(t);
}

/* Prints the note on its own line, between the command's output. */
static void on_note(struct terminal *t, const char *data, size_t len)
{
	auto_str text = xstrndup(data, len);
	auto_buf line = BUF_SMALL;

	output_queue_flush(&t->out[0]);
	if (t->raw)
		fputs("\r\n", stderr);
	say_warning("%s", say_one_line(&line, text));
	if (t->raw)
		fputs("\r", stderr);
}

static void on_refused(struct terminal *t, const char *data, size_t len)
{
	auto_str text = xstrndup(data, len);

	if (!t->o->quiet)
		deferred_add(&t->deferred, text);
}

/* Prints what was held back as soon as no program draws on the terminal. */
static void tell_deferred(struct terminal *t)
{
	bool shares = t->tty && isatty(1) && isatty(2);

	if (!t->deferred.lines.n || (shares && output_queue_waiting(&t->out[0])))
		return;
	if (!shares || modes_plain(&t->modes))
		deferred_print(&t->deferred, t->raw);
	else
		deferred_announce(&t->deferred, &t->modes, &t->out[0]);
}

/* The session is over. The cursor may be in the middle of what a program drew. */
static void tell_rest(struct terminal *t)
{
	if (t->deferred.lines.n && t->tty && isatty(2) && !modes_plain(&t->modes))
		fputs("\r\n\033[J", stderr);
	deferred_print(&t->deferred, false);
}

static void on_frame(struct terminal *t, const struct wire_head *h, const char *data)
{
	uint32_t taken;
	int32_t code;

	switch (h->type) {
	case WIRE_STARTED:
		on_started(t, data);
		break;
	case WIRE_OUT:
		if (t->tty)
			modes_feed(&t->modes, data, h->len);
		output_queue_add(&t->out[0], data, h->len);
		break;
	case WIRE_ERR:
		output_queue_add(&t->out[1], data, h->len);
		break;
	case WIRE_WINDOW:
		memcpy(&taken, data, sizeof(taken));
		t->credit += taken;
		break;
	case WIRE_NOTE:
		on_note(t, data, h->len);
		break;
	case WIRE_REFUSED:
		on_refused(t, data, h->len);
		break;
	case WIRE_EXIT:
		memcpy(&code, data, sizeof(code));
		end_with(t, TERMINAL_EXIT, code);
		break;
	case WIRE_FAIL:
		memcpy(t->e, data, sizeof(*t->e));
		t->failed = t->done = true;
		break;
	}
}

static void on_conn_end(struct terminal *t)
{
	if (!t->heard) {
		end_with(t, TERMINAL_GONE, 0);
	} else {
		err_set(t->e, ERR_FAILED, "the connection to the task's keeper is lost");
		t->failed = t->done = true;
	}
}

static void take_frames(struct terminal *t)
{
	size_t at = 0, rest;

	while (!t->done && t->rx.len - at >= sizeof(struct wire_head)) {
		struct wire_head h;

		memcpy(&h, t->rx.data + at, sizeof(h));
		if (!wire_head_ok(&h) || h.type == WIRE_EXEC) {
			err_set(t->e, ERR_FAILED, "the task's keeper is of another version of Garth");
			t->failed = t->done = true;
			return;
		}
		if (t->rx.len - at < sizeof(h) + h.len)
			break;
		t->heard = true;
		on_frame(t, &h, t->rx.data + at + sizeof(h));
		at += sizeof(h) + h.len;
	}
	rest = t->rx.len - at;
	if (rest && at)
		memmove(t->rx.data, t->rx.data + at, rest);
	buf_cut(&t->rx, rest);
}

static void read_conn(struct terminal *t)
{
	char *room = buf_reserve(&t->rx, t->rx.max - t->rx.len);
	ssize_t n;

	do
		n = recv(t->conn, room, t->rx.max - t->rx.len, MSG_DONTWAIT);
	while (n < 0 && errno == EINTR);
	if (n < 0 && errno == EAGAIN)
		return;
	if (n <= 0) {
		on_conn_end(t);
		return;
	}
	t->rx.len += (size_t)n;
	take_frames(t);
}

static void stdin_over(struct terminal *t)
{
	t->stdin_end = true;
	if (t->tty && t->stdin_is_tty)
		leave(t, true);
	else
		send_frame(t, WIRE_STDIN_END, NULL, 0);
}

static void send_typed(struct terminal *t, const struct buf *passed)
{
	if (passed->len)
		send_frame(t, WIRE_STDIN, passed->data, passed->len);
	t->credit -= passed->len;
}

/* No further key came: what looked like the beginning of the keys that detach is the command's. */
static void pass_held(struct terminal *t)
{
	auto_buf held = BUF_SMALL;

	if (t->done || !t->keys.nheld || deadline_left(&t->hold))
		return;
	keys_release(&t->keys, &held);
	send_typed(t, &held);
}

static void read_stdin(struct terminal *t)
{
	auto_buf passed = BUF_SMALL;
	char piece[32 << 10];
	size_t most = t->credit - KEYS_HELD_MAX;
	bool leaving = false;
	ssize_t n;

	if (t->stdin_is_tty && !in_foreground())
		return;
	n = read(0, piece, most < sizeof(piece) ? most : sizeof(piece));
	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return;
	if (n <= 0) {
		stdin_over(t);
		return;
	}
	if (t->raw && t->o->detach)
		leaving = keys_pass(&t->keys, piece, (size_t)n, &passed);
	else
		buf_add(&passed, piece, (size_t)n);
	t->hold = deadline_in(KEYS_HOLD_MS);
	send_typed(t, &passed);
	if (leaving)
		leave(t, false);
}

static void on_signal(struct terminal *t, int sig)
{
	int32_t value = sig;

	if (sig == SIGWINCH) {
		send_size(t);
	} else if (sig == SIGCONT) {
		/* the shell has restored its own modes meanwhile */
		if (t->raw)
			tcsetattr(0, TCSANOW, &t->during);
		send_size(t);
	} else if (t->done) {
		/* the user wants to stop, so output that nobody reads is dropped */
		output_queue_release(&t->out[0]);
		output_queue_release(&t->out[1]);
		output_queue_open(&t->out[0], -1, QUEUE_MAX);
		output_queue_open(&t->out[1], -1, QUEUE_MAX);
	} else if (sig == SIGHUP && t->tty) {
		leave(t, true);
	} else {
		send_frame(t, WIRE_SIGNAL, &value, sizeof(value));
	}
}

static void read_signals(struct terminal *t)
{
	struct signalfd_siginfo info;

	while (read(t->signals, &info, sizeof(info)) == sizeof(info))
		on_signal(t, (int)info.ssi_signo);
}

/* Tells the command that nobody reads its output. If the terminal is gone, detaches. */
static void flush_outs(struct terminal *t)
{
	for (int i = 0; i < 2; i++) {
		int32_t fd = i + 1;

		output_queue_flush(&t->out[i]);
		if (!t->out[i].dead || t->told_closed[i] || !t->started)
			continue;
		t->told_closed[i] = true;
		send_frame(t, WIRE_CLOSE_OUT, &fd, sizeof(fd));
		if (t->tty && !i)
			leave(t, true);
	}
}

enum { AT_SIGNALS, AT_CONN, AT_STDIN, AT_OUT, AT_ERR, AT_N };

static void prepare(struct terminal *t, struct pollfd p[AT_N], int *timeout)
{
	size_t waiting = output_queue_waiting(&t->out[0]) + output_queue_waiting(&t->out[1]);
	bool wants = t->started && !t->stdin_end && !t->done && t->credit > KEYS_HELD_MAX;
	short conn = 0;

	*timeout = -1;
	if (wants && t->stdin_is_tty && !in_foreground()) {
		wants = false;
		*timeout = 1000;
	}
	if (t->keys.nheld && !t->done)
		*timeout = deadline_left(&t->hold);
	if (!t->done && waiting < WAITING_MAX)
		conn |= POLLIN;
	if (t->tx_at < t->tx.len)
		conn |= POLLOUT;
	p[AT_SIGNALS] = (struct pollfd){ .fd = t->signals, .events = POLLIN };
	p[AT_CONN] = (struct pollfd){ .fd = conn ? t->conn : -1, .events = conn };
	p[AT_STDIN] = (struct pollfd){ .fd = wants ? 0 : -1, .events = POLLIN };
	for (int i = 0; i < 2; i++)
		p[AT_OUT + i] = (struct pollfd){ .fd = output_queue_waiting(&t->out[i]) ? t->out[i].fd : -1,
			.events = POLLOUT };
}

static bool finished(const struct terminal *t)
{
	return t->done && !output_queue_waiting(&t->out[0]) && !output_queue_waiting(&t->out[1]) &&
	       (t->tx_dead || t->ret->end != TERMINAL_DETACHED || t->tx_at >= t->tx.len);
}

static void loop(struct terminal *t)
{
	while (!finished(t)) {
		struct pollfd p[AT_N];
		int timeout;

		prepare(t, p, &timeout);
		if (poll(p, AT_N, timeout) < 0 && errno != EINTR)
			break;
		if (p[AT_SIGNALS].revents)
			read_signals(t);
		if (p[AT_STDIN].revents)
			read_stdin(t);
		pass_held(t);
		if (p[AT_CONN].events & POLLIN && p[AT_CONN].revents && !t->done)
			read_conn(t);
		flush_outs(t);
		tell_deferred(t);
		flush_conn(t);
	}
}

static int open_signals(struct terminal *t)
{
	sigset_t read_here, blocked;

	sigemptyset(&read_here);
	for (size_t i = 0; i < ARRAY_SIZE(passed_on); i++)
		sigaddset(&read_here, passed_on[i]);
	sigaddset(&read_here, SIGWINCH);
	sigaddset(&read_here, SIGCONT);
	blocked = read_here;
	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		sigaddset(&blocked, others[i]);
	if (sigprocmask(SIG_BLOCK, &blocked, &t->old_mask) < 0)
		return -1;
	return signalfd(-1, &read_here, SFD_NONBLOCK | SFD_CLOEXEC);
}

/* Removes our own pending signals before they are unblocked. */
static void close_signals(struct terminal *t)
{
	struct timespec none = { 0 };
	sigset_t ours;

	sigemptyset(&ours);
	sigaddset(&ours, SIGPIPE);
	sigaddset(&ours, SIGTTOU);
	sigaddset(&ours, SIGTTIN);
	while (sigtimedwait(&ours, NULL, &none) > 0)
		;
	close(t->signals);
	sigprocmask(SIG_SETMASK, &t->old_mask, NULL);
}

int terminal_session(int conn, const struct terminal_opts *o, struct terminal_result *ret, struct err *e)
{
	struct terminal t = { .conn = conn, .o = o, .ret = ret, .e = e, .credit = WIRE_WINDOW_BYTES };

	*ret = (struct terminal_result){ 0 };
	if (o->detach)
		t.keys = *o->detach;
	t.rx = (struct buf)BUF_INIT(sizeof(struct wire_head) + WIRE_DATA_MAX);
	t.tx = (struct buf)BUF_INIT(1 << 20);
	t.stdin_is_tty = isatty(0);
	t.signals = open_signals(&t);
	if (t.signals < 0)
		return err_sys(e, "cannot watch for signals");
	output_queue_open(&t.out[0], 1, QUEUE_MAX);
	output_queue_open(&t.out[1], 2, QUEUE_MAX);
	loop(&t);
	leave_raw(&t);
	tell_rest(&t);
	close_signals(&t);
	for (int i = 0; i < 2; i++)
		output_queue_release(&t.out[i]);
	buf_release(&t.rx);
	buf_release(&t.tx);
	return t.failed ? -1 : 0;
}
