#include "egress/relay.h"

#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/alloc.h"
#include "sys/fd.h"

/* Of one direction. Only what is used of it takes memory. */
#define ROOM (512u << 10)

struct way {
	int from, to;
	char *room;
	size_t at, held; /* what is in it */
	bool ended;      /* nothing more comes */
	bool closed;     /* and that was passed on */
};

static void open_way(struct way *w, int from, int to)
{
	*w = (struct way){ .from = from, .to = to, .room = xcalloc(1, ROOM) };
	fd_nonblock(from);
}

static bool goes_on(ssize_t n)
{
	return n > 0 || (n < 0 && (errno == EAGAIN || errno == EINTR));
}

/* False where the other side is gone. */
static bool move(struct way *w)
{
	ssize_t n;

	if (!w->ended && !w->held) {
		n = read(w->from, w->room, ROOM);
		w->at = 0;
		w->held = n > 0 ? (size_t)n : 0;
		w->ended = !goes_on(n);
	}
	while (w->held) {
		n = send(w->to, w->room + w->at, w->held, MSG_NOSIGNAL);
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
	struct way ways[2];
	bool good = true;

	open_way(&ways[0], near, far);
	open_way(&ways[1], far, near);
	while (good && !(ways[0].closed && ways[1].closed)) {
		struct pollfd p[2] = { { near, 0, 0 }, { far, 0, 0 } };

		for (int i = 0; i < 2; i++) {
			p[i].events |= (short)(!ways[i].ended && !ways[i].held ? POLLIN : 0);
			p[1 - i].events |= (short)(ways[i].held ? POLLOUT : 0);
		}
		if (poll(p, 2, -1) < 0 && errno != EINTR)
			break;
		good = move(&ways[0]) && move(&ways[1]);
		/* a side that is gone altogether wakes us for ever, and takes nothing any more */
		for (int i = 0; i < 2; i++)
			good = good && !(p[i].revents & (POLLERR | POLLNVAL)) &&
			       !(p[i].revents & POLLHUP && ways[i].closed);
	}
	free(ways[0].room);
	free(ways[1].room);
}
