#include "keeper/wire.h"

#include <errno.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "sys/fd.h"

static const struct {
	uint32_t min, max;
} lengths[WIRE_TYPES] = {
	[WIRE_EXEC] = { 1, WIRE_FRAME_MAX },
	[WIRE_ATTACH] = { sizeof(struct wire_size), sizeof(struct wire_size) },
	[WIRE_CANCEL] = { 0, 0 },
	[WIRE_STDIN] = { 1, WIRE_DATA_MAX },
	[WIRE_STDIN_END] = { 0, 0 },
	[WIRE_RESIZE] = { sizeof(struct wire_size), sizeof(struct wire_size) },
	[WIRE_SIGNAL] = { sizeof(int32_t), sizeof(int32_t) },
	[WIRE_CLOSE_OUT] = { sizeof(int32_t), sizeof(int32_t) },
	[WIRE_DETACH] = { 0, 0 },
	[WIRE_STARTED] = { sizeof(struct wire_started), sizeof(struct wire_started) },
	[WIRE_OUT] = { 1, WIRE_DATA_MAX },
	[WIRE_ERR] = { 1, WIRE_DATA_MAX },
	[WIRE_WINDOW] = { sizeof(uint32_t), sizeof(uint32_t) },
	[WIRE_EXIT] = { sizeof(int32_t), sizeof(int32_t) },
	[WIRE_PORT] = { sizeof(uint32_t), sizeof(uint32_t) },
	[WIRE_FORWARD] = { sizeof(uint32_t), sizeof(uint32_t) },
	[WIRE_NOTE] = { 1, WIRE_NOTE_MAX },
	[WIRE_REFUSED] = { 1, WIRE_NOTE_MAX },
	[WIRE_CREDENTIALS] = { 1, WIRE_FRAME_MAX },
	[WIRE_FAIL] = { sizeof(struct err), sizeof(struct err) },
};

bool wire_head_ok(const struct wire_head *h)
{
	return h->type > 0 && h->type < WIRE_TYPES && h->len >= lengths[h->type].min &&
	       h->len <= lengths[h->type].max;
}

int wire_send(int fd, enum wire_type type, const void *data, size_t len)
{
	struct wire_head h = { .type = type, .len = (uint32_t)len };
	struct iovec iov[2] = { { &h, sizeof(h) }, { (void *)data, len } };
	struct msghdr m = { .msg_iov = iov, .msg_iovlen = len ? 2 : 1 };

	if (len > WIRE_FRAME_MAX || !wire_head_ok(&h)) {
		errno = EMSGSIZE;
		return -1;
	}
	while (m.msg_iovlen) {
		ssize_t n = sendmsg(fd, &m, MSG_NOSIGNAL);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -1;
		while (m.msg_iovlen && (size_t)n >= m.msg_iov->iov_len) {
			n -= (ssize_t)m.msg_iov->iov_len;
			m.msg_iov++;
			m.msg_iovlen--;
		}
		if (m.msg_iovlen) {
			m.msg_iov->iov_base = (char *)m.msg_iov->iov_base + n;
			m.msg_iov->iov_len -= (size_t)n;
		}
	}
	return 0;
}

int wire_recv(int fd, enum wire_type *type, struct buf *body)
{
	struct wire_head h;
	ssize_t n = read_full(fd, &h, sizeof(h));
	char *at;

	if (n <= 0)
		return (int)n;
	errno = EPROTO;
	if ((size_t)n < sizeof(h) || !wire_head_ok(&h))
		return -1;
	buf_reset(body);
	at = buf_reserve(body, h.len);
	if (!at) {
		errno = EMSGSIZE;
		return -1;
	}
	n = read_full(fd, at, h.len);
	if (n < 0)
		return -1;
	if ((uint32_t)n < h.len) {
		errno = EPROTO;
		return -1;
	}
	body->len = h.len;
	body->data[h.len] = '\0';
	*type = (enum wire_type)h.type;
	return 1;
}
