#include "sys/output_queue.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#define TTY_MOST 256 /* a terminal that poll reports as writable takes so many bytes */

void output_queue_open(struct output_queue *o, int fd, size_t max)
{
	struct stat st;
	char path[32];

	*o = (struct output_queue){ .fd = fd, .most = SIZE_MAX, .q = BUF_INIT(max) };
	if (fstat(fd, &st) < 0) {
		o->dead = true;
		return;
	}
	o->socket = S_ISSOCK(st.st_mode);
	if (!S_ISFIFO(st.st_mode) && !isatty(fd))
		return;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	o->fd = open(path, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	o->own = o->fd >= 0;
	if (!o->own) {
		o->fd = fd;
		o->most = S_ISFIFO(st.st_mode) ? PIPE_BUF : TTY_MOST;
	}
}

void output_queue_release(struct output_queue *o)
{
	if (o->own)
		close(o->fd);
	buf_release(&o->q);
}

size_t output_queue_waiting(const struct output_queue *o)
{
	return o->q.len - o->at;
}

void output_queue_add(struct output_queue *o, const char *data, size_t len)
{
	if (o->dead)
		return;
	if (o->at > o->q.len / 2) {
		size_t rest = output_queue_waiting(o);

		memmove(o->q.data, o->q.data + o->at, rest);
		buf_cut(&o->q, rest);
		o->at = 0;
	}
	buf_add(&o->q, data, len);
}

static ssize_t write_some(struct output_queue *o)
{
	size_t len = output_queue_waiting(o);
	const char *p = o->q.data + o->at;

	if (o->socket)
		return send(o->fd, p, len, MSG_DONTWAIT | MSG_NOSIGNAL);
	return write(o->fd, p, len < o->most ? len : o->most);
}

void output_queue_flush(struct output_queue *o)
{
	while (output_queue_waiting(o)) {
		ssize_t n = write_some(o);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN)
			return;
		if (n < 0) {
			o->dead = true;
			o->at = 0;
			buf_reset(&o->q);
			return;
		}
		o->at += (size_t)n;
		if (o->most != SIZE_MAX)
			return;
	}
	o->at = 0;
	buf_reset(&o->q);
}
