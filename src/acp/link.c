#include "acp/link.h"

#include <errno.h>
#include <poll.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/alloc.h"
#include "keeper/wire.h"
#include "sys/fd.h"

#define TX_MAX (1u << 20)
/* Frees a buffer that has held much. */
#define KEPT (256u << 10)

void link_open(struct agent_link *l, int conn)
{
	*l = (struct agent_link){ .fd = conn,
		.in = BUF_INIT(LINK_INPUT_MAX),
		.rx = BUF_INIT(sizeof(struct wire_head) + WIRE_DATA_MAX),
		.tx = BUF_INIT(TX_MAX),
		.credit = WIRE_WINDOW_BYTES };
}

static void drop_front(struct buf *b, size_t *at)
{
	size_t rest = b->len - *at;

	if (!rest && b->cap > KEPT) {
		buf_release(b);
	} else if (*at && (!rest || *at > b->len / 2)) {
		memmove(b->data, b->data + *at, rest);
		buf_cut(b, rest);
	} else {
		return;
	}
	*at = 0;
}

static bool send_frame(struct agent_link *l, enum wire_type type, const void *data, size_t len)
{
	struct wire_head h = { .type = type, .len = (uint32_t)len };

	if (l->fd < 0 || l->tx.max - l->tx.len < sizeof(h) + len)
		return false;
	buf_add(&l->tx, &h, sizeof(h));
	if (len)
		buf_add(&l->tx, data, len);
	return true;
}

/* Sends as much input as the keeper has asked for. */
static void feed(struct agent_link *l)
{
	while (l->in.len > l->in_at && l->credit) {
		size_t n = l->in.len - l->in_at;

		n = n < l->credit ? n : l->credit;
		n = n < WIRE_DATA_MAX ? n : WIRE_DATA_MAX;
		if (!send_frame(l, WIRE_STDIN, l->in.data + l->in_at, n))
			return;
		l->in_at += n;
		l->credit -= n;
	}
	drop_front(&l->in, &l->in_at);
	if (l->in_end && !l->told_end && l->in.len == l->in_at)
		l->told_end = send_frame(l, WIRE_STDIN_END, NULL, 0);
}

bool link_write(struct agent_link *l, const char *data, size_t len)
{
	if (l->in_end || l->over)
		return true;
	if (!buf_add(&l->in, data, len))
		return false;
	feed(l);
	return true;
}

void link_end_input(struct agent_link *l)
{
	l->in_end = true;
	feed(l);
}

void link_signal(struct agent_link *l, int sig)
{
	int32_t value = sig;

	send_frame(l, WIRE_SIGNAL, &value, sizeof(value));
}

static void end(struct agent_link *l, int exit_code, const struct err *why)
{
	l->over = true;
	l->exit_code = exit_code;
	if (why)
		l->why = *why;
	link_close(l);
}

static void give_note(const struct agent_heard *heard, const char *data, size_t len)
{
	auto_str text = xstrndup(data, len);

	heard->note(text, heard->arg);
}

static void on_frame(
	struct agent_link *l, const struct wire_head *h, const char *data, const struct agent_heard *heard)
{
	struct err why = ERR_INIT;
	uint32_t taken;
	int32_t code;

	switch (h->type) {
	case WIRE_OUT:
		heard->output(data, h->len, heard->arg);
		break;
	case WIRE_ERR:
		heard->complaint(data, h->len, heard->arg);
		break;
	case WIRE_NOTE:
	case WIRE_REFUSED:
		give_note(heard, data, h->len);
		break;
	case WIRE_WINDOW:
		memcpy(&taken, data, sizeof(taken));
		l->credit += taken;
		break;
	case WIRE_EXIT:
		memcpy(&code, data, sizeof(code));
		end(l, code, NULL);
		break;
	case WIRE_FAIL:
		memcpy(&why, data, sizeof(why));
		end(l, 1, &why);
		break;
	default:
		break;
	}
}

static void take_frames(struct agent_link *l, const struct agent_heard *heard)
{
	struct err why = ERR_INIT;
	size_t at = 0;

	while (!l->over && l->rx.len - at >= sizeof(struct wire_head)) {
		struct wire_head h;

		memcpy(&h, l->rx.data + at, sizeof(h));
		if (!wire_head_ok(&h) || h.type == WIRE_EXEC) {
			err_set(&why, ERR_FAILED, "the task's keeper is of another version of Garth");
			end(l, 1, &why);
			return;
		}
		if (l->rx.len - at < sizeof(h) + h.len)
			break;
		on_frame(l, &h, l->rx.data + at + sizeof(h), heard);
		at += sizeof(h) + h.len;
	}
	if (l->over)
		return;
	memmove(l->rx.data, l->rx.data + at, l->rx.len - at);
	buf_cut(&l->rx, l->rx.len - at);
}

static void hear(struct agent_link *l, const struct agent_heard *heard)
{
	char *room = buf_reserve(&l->rx, l->rx.max - l->rx.len);
	struct err why = ERR_INIT;
	ssize_t n;

	do
		n = recv(l->fd, room, l->rx.max - l->rx.len, MSG_DONTWAIT);
	while (n < 0 && errno == EINTR);
	if (n < 0 && errno == EAGAIN)
		return;
	if (n <= 0) {
		err_set(&why, ERR_FAILED, "the connection to the task's keeper is lost");
		end(l, 1, &why);
		return;
	}
	l->rx.len += (size_t)n;
	take_frames(l, heard);
}

/* If sending fails, messages of the keeper may still be there to read. */
static void send_some(struct agent_link *l)
{
	while (l->fd >= 0 && l->tx_at < l->tx.len) {
		ssize_t n =
			send(l->fd, l->tx.data + l->tx_at, l->tx.len - l->tx_at, MSG_DONTWAIT | MSG_NOSIGNAL);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno != EAGAIN)
			l->tx_at = l->tx.len;
		if (n < 0)
			break;
		l->tx_at += (size_t)n;
	}
	drop_front(&l->tx, &l->tx_at);
}

short link_events(const struct agent_link *l, bool listens)
{
	return (short)((listens ? POLLIN : 0) | (l->tx.len > l->tx_at ? POLLOUT : 0));
}

void link_work(struct agent_link *l, short revents, const struct agent_heard *heard)
{
	if (l->fd >= 0 && revents & (POLLIN | POLLHUP | POLLERR))
		hear(l, heard);
	if (l->fd < 0)
		return;
	feed(l);
	send_some(l);
}

void link_close(struct agent_link *l)
{
	fd_closep(&l->fd);
	l->fd = -1;
	buf_release(&l->in);
	buf_release(&l->rx);
	buf_release(&l->tx);
	l->in_at = l->tx_at = 0;
}
