#include "keeper/log.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sys/fd.h"

static void reopen(struct log *l)
{
	struct stat st;

	l->fd = open_beneath(l->dir, LOG_NEW, O_WRONLY | O_APPEND | O_CREAT | O_NONBLOCK | O_NOCTTY, 0600);
	if (l->fd < 0)
		return;
	if (fstat(l->fd, &st) < 0 || !S_ISREG(st.st_mode)) {
		close(fd_steal(&l->fd));
		return;
	}
	l->size = (uint64_t)st.st_size;
}

void log_open(struct log *l, int dir, uint64_t max)
{
	*l = (struct log){ .dir = dir, .fd = -1, .max = max };
	if (max)
		reopen(l);
}

void log_close(struct log *l)
{
	if (l->fd >= 0)
		close(fd_steal(&l->fd));
}

static void turn(struct log *l)
{
	if (renameat(l->dir, LOG_NEW, l->dir, LOG_OLD) < 0)
		unlinkat(l->dir, LOG_NEW, 0);
	log_close(l);
	l->size = 0;
	reopen(l);
}

/* Returns how many bytes were written. */
static size_t append(struct log *l, const char *data, size_t len)
{
	size_t done = 0;

	while (done < len && l->fd >= 0) {
		ssize_t n = write(l->fd, data + done, len - done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		done += (size_t)n;
	}
	l->size += done;
	return done;
}

/* False if the note cannot be written either. A note that was written only in part stays. */
static bool note_loss(struct log *l)
{
	char note[96];
	int n;

	if (!l->lost)
		return true;
	n = snprintf(note, sizeof(note), "\n[garth: %llu bytes of output were not kept: disk full]\n",
		(unsigned long long)l->lost);
	if (append(l, note, (size_t)n) < (size_t)n)
		return false;
	l->lost = 0;
	return true;
}

void log_write(struct log *l, const void *data, size_t len)
{
	const char *p = data;
	uint64_t half = l->max / 2;

	if (!half)
		return;
	if (l->fd < 0)
		reopen(l);
	while (len) {
		uint64_t room;
		size_t part, done;

		if (l->size >= half)
			turn(l);
		room = l->size < half ? half - l->size : 0;
		part = len < room ? len : (size_t)room;
		done = note_loss(l) ? append(l, p, part) : 0;
		if (!part || done < part) {
			l->lost += len - done;
			return;
		}
		p += part;
		len -= part;
	}
}
