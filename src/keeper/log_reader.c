#include "keeper/log_reader.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "keeper/log.h"
#include "sys/fd.h"

#define BLOCK (64 << 10)

static void drop(int *fd)
{
	fd_closep(fd);
	*fd = -1;
}

void log_reader_close(struct log_reader *r)
{
	drop(&r->older);
	drop(&r->now);
}

static bool same_file(int a, int b)
{
	struct stat sa, sb;

	return a >= 0 && b >= 0 && !fstat(a, &sa) && !fstat(b, &sb) && sa.st_ino == sb.st_ino &&
	       sa.st_dev == sb.st_dev;
}

/* Finds the file that the keeper writes to now, if that is not the one that was read last. *ret_older is the
 * one before it, if that was not read either. Both are -1 if there is nothing new. */
static int find_next(const struct log_reader *r, int *ret_older, int *ret_now, struct err *e)
{
	auto_fd now = open_regular_beneath(r->dir, LOG_NEW), older = -1;

	*ret_older = *ret_now = -1;
	if (now < 0 && errno != ENOENT)
		return err_sys(e, "cannot open the log");
	if (same_file(now, r->now))
		return 0;
	older = open_regular_beneath(r->dir, LOG_OLD);
	if (older < 0 && errno != ENOENT)
		return err_sys(e, "cannot open the older log");
	/* Either it was read, or the keeper renamed the log between the two opens. */
	if (same_file(older, r->now) || same_file(older, now))
		drop(&older);
	*ret_older = fd_steal(&older);
	*ret_now = fd_steal(&now);
	return 0;
}

int log_reader_open(struct log_reader *r, int dir, struct err *e)
{
	*r = (struct log_reader){ dir, -1, -1 };
	return find_next(r, &r->older, &r->now, e);
}

static int read_to_end(int fd, log_fn *fn, void *arg, struct err *e)
{
	char chunk[BLOCK];
	ssize_t n;

	while ((n = read(fd, chunk, sizeof(chunk))) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return err_sys(e, "cannot read the log");
		if (fn(chunk, (size_t)n, arg, e) < 0)
			return -1;
	}
	return 0;
}

int log_reader_read(struct log_reader *r, log_fn *fn, void *arg, struct err *e)
{
	if (r->older >= 0 && read_to_end(r->older, fn, arg, e) < 0)
		return -1;
	if (r->now < 0)
		return 0;
	drop(&r->older);
	return read_to_end(r->now, fn, arg, e);
}

int log_reader_follow(struct log_reader *r, log_fn *fn, void *arg, struct err *e)
{
	for (;;) {
		int older, now;

		if (log_reader_read(r, fn, arg, e) < 0 || find_next(r, &older, &now, e) < 0)
			return -1;
		/* without a new file, the keeper is about to make one: ask again later */
		if (now < 0)
			return drop(&older), 0;
		/* the rest of a file that was renamed meanwhile */
		if (r->now >= 0 && read_to_end(r->now, fn, arg, e) < 0)
			return drop(&older), drop(&now), -1;
		if (same_file(older, r->older))
			drop(&older);
		log_reader_close(r);
		r->older = older;
		r->now = now;
	}
}

/* Sets the file's place to the beginning of the last *lines lines and counts them off. *last: the file's last
 * byte is the log's last one, and a newline there ends a line. */
static int seek_lines(int fd, uint64_t *lines, bool *last, struct err *e)
{
	off_t at = lseek(fd, 0, SEEK_END);
	char block[BLOCK];

	while (at > 0) {
		size_t want = at < BLOCK ? (size_t)at : BLOCK;
		ssize_t n = pread(fd, block, want, at - (off_t)want);

		if (n < 0 && errno == EINTR)
			continue;
		if (n != (ssize_t)want)
			return err_sys(e, "cannot read the log");
		for (size_t i = want; i > 0; i--) {
			bool ends = block[i - 1] == '\n' && !*last;

			*last = false;
			if (ends && !--*lines)
				return lseek(fd, at - (off_t)want + (off_t)i, SEEK_SET) < 0
					       ? err_sys(e, "cannot read the log")
					       : 0;
		}
		at -= (off_t)want;
	}
	return at < 0 || lseek(fd, 0, SEEK_SET) < 0 ? err_sys(e, "cannot read the log") : 0;
}

int log_reader_tail(struct log_reader *r, uint64_t lines, struct err *e)
{
	bool last = true;

	if (!lines && r->now >= 0 && lseek(r->now, 0, SEEK_END) < 0)
		return err_sys(e, "cannot read the log");
	if (lines && r->now >= 0 && seek_lines(r->now, &lines, &last, e) < 0)
		return -1;
	if (!lines)
		drop(&r->older);
	return r->older >= 0 ? seek_lines(r->older, &lines, &last, e) : 0;
}
