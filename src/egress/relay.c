#include "egress/relay.h"

#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/alloc.h"
#include "sys/fd.h"

/* The buffer of one direction. The kernel gives memory only for the pages that are used. */
#define BUFFER_SIZE (512u << 10)

struct direction {
	int from, to;
	char *buffer;
	size_t at, held; /* the part of the buffer that was read and not sent yet */
	bool ended;      /* end of file was read */
	bool closed;     /* and passed on */
};

static void open_direction(struct direction *w, int from, int to)
{
	*w = (struct direction){ .from = from, .to = to, .buffer = xcalloc(1, BUFFER_SIZE) };
	fd_nonblock(from);
}

static bool goes_on(ssize_t n)
{
	return n > 0 || (n < 0 && (errno == EAGAIN || errno == EINTR));
}

/* False if the receiving side is gone. */
static bool move(struct direction *w)
{
	ssize_t n;

	if (!w->ended && !w->held) {
		n = read(w->from, w->buffer, BUFFER_SIZE);
		w->at = 0;
		w->held = n > 0 ? (size_t)n : 0;
		w->ended = !goes_on(n);
	}
	while (w->held) {
		n = send(w->to, w->buffer + w->at, w->held, MSG_NOSIGNAL);
		if (n <= 0)
			return goes_on(n);
		w->at += (size_t)n;
		w->held -= (size_t)n;
	}
	if (w->ended && !w->closed) {
		w->closed = true;
		shutdown(w->to, SHUT_WR);
	}
	return true;
}

void relay(int near, int far)
{
	struct direction both[2];
	bool good = true;

	open_direction(&both[0], near, far);
	open_direction(&both[1], far, near);
	while (good && !(both[0].closed && both[1].closed)) {
		struct pollfd p[2] = { { near, 0, 0 }, { far, 0, 0 } };

		for (int i = 0; i < 2; i++) {
			p[i].events |= (short)(!both[i].ended && !both[i].held ? POLLIN : 0);
			p[1 - i].events |= (short)(both[i].held ? POLLOUT : 0);
		}
		if (poll(p, 2, -1) < 0 && errno != EINTR)
			break;
		good = move(&both[0]) && move(&both[1]);
		/* poll reports a socket that is closed on both sides again and again, and nothing can be sent
		 * to it */
		for (int i = 0; i < 2; i++)
			good = good && !(p[i].revents & (POLLERR | POLLNVAL)) &&
			       !(p[i].revents & POLLHUP && both[i].closed);
	}
	free(both[0].buffer);
	free(both[1].buffer);
}
