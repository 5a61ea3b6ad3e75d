#include "egress/relay.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <sys/socket.h>
#include <unistd.h>

#include "sys/fd.h"

#define PIPE_SIZE (512 << 10)
/* What waits for a reader on this machine: more than that is out of the processor's caches when it comes. The
 * kernel doubles it; less than a few segments of a loopback (64 KiB each), and each waits for the last one.
 */
#define NEAR_SIZE (128 << 10)

struct way {
	int from, to, pipe[2];
	size_t held; /* in the pipe */
	bool ended;  /* nothing more comes */
	bool closed; /* and that was passed on */
};

static int open_way(struct way *w, int from, int to)
{
	*w = (struct way){ .from = from, .to = to, .pipe = { -1, -1 } };
	if (pipe2(w->pipe, O_CLOEXEC | O_NONBLOCK) < 0)
		return -1;
	/* as large as the user may have them */
	for (int size = PIPE_SIZE; size > 65536 && fcntl(w->pipe[1], F_SETPIPE_SZ, size) < 0; size /= 2)
		;
	return 0;
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
		n = splice(w->from, NULL, w->pipe[1], NULL, PIPE_SIZE, SPLICE_F_MOVE | SPLICE_F_NONBLOCK);
		if (n > 0)
			w->held = (size_t)n;
		w->ended = !goes_on(n);
	}
	while (w->held) {
		n = splice(w->pipe[0], NULL, w->to, NULL, w->held, SPLICE_F_MOVE | SPLICE_F_NONBLOCK);
		if (n <= 0)
			return goes_on(n);
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
	bool good = open_way(&ways[0], near, far) == 0;

	good = open_way(&ways[1], far, near) == 0 && good;
	setsockopt(near, SOL_SOCKET, SO_SNDBUF, &(int){ NEAR_SIZE }, sizeof(int));
	fd_nonblock(near);
	fd_nonblock(far);
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
	for (int i = 0; i < 2; i++) {
		fd_closep(&ways[i].pipe[0]);
		fd_closep(&ways[i].pipe[1]);
	}
}
