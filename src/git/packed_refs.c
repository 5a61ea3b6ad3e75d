#include "git/packed_refs.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sys/fd.h"

/* What is read at once. A line has fewer bytes: no path is longer than 4,096. */
#define STEP ((size_t)16 << 10)

struct reader {
	int fd;
	off_t size;
	char data[STEP + 1];
};

/* Reads at most STEP bytes at a place; they end in a NUL. */
static bool read_at(struct reader *r, off_t at)
{
	ssize_t n;

	do
		n = pread(r->fd, r->data, STEP, at);
	while (n < 0 && errno == EINTR);
	r->data[n < 0 ? 0 : n] = '\0';
	return n > 0;
}

/* The name of the first ref whose line begins after a place; it is in r->data. NULL if that cannot be told. */
static const char *name_after(struct reader *r, off_t at)
{
	char *line = read_at(r, at) ? strchr(r->data, '\n') : NULL, *name, *end;

	while (line && line[1] == '^')
		line = strchr(line + 1, '\n');
	name = line ? strchr(line + 1, ' ') : NULL;
	end = name ? strchr(name, '\n') : NULL;
	if (!end)
		return NULL;
	*end = '\0';
	return name + 1;
}

static bool is_sorted(struct reader *r)
{
	if (!read_at(r, 0) || *r->data != '#')
		return false;
	r->data[strcspn(r->data, "\n")] = '\0';
	return strstr(r->data, " sorted") != NULL;
}

/* Halves the part in which a name can be until it is small. */
static void narrow(struct reader *r, const char *name, off_t *from, off_t *to)
{
	while (*to - *from > (off_t)(4 * STEP)) {
		off_t middle = *from + (*to - *from) / 2;
		const char *there = name_after(r, middle);

		if (!there)
			return;
		if (strcmp(there, name) < 0)
			*from = middle;
		else
			*to = middle + (off_t)STEP < *to ? middle + (off_t)STEP : *to;
	}
}

static int read_part(int fd, off_t from, off_t to, struct buf *ret, struct err *e)
{
	char *at = buf_reserve(ret, (size_t)(to - from));
	ssize_t n;

	if (!at)
		return err_set(e, ERR_FAILED, "packed-refs is larger than %zu bytes", ret->max);
	if (lseek(fd, from, SEEK_SET) < 0 || (n = read_full(fd, at, (size_t)(to - from))) < 0)
		return err_sys(e, "cannot read packed-refs");
	ret->len += (size_t)n;
	ret->data[ret->len] = '\0';
	return 0;
}

int packed_refs_near(int git_dir, const char *name, struct buf *ret, struct err *e)
{
	auto_fd fd = openat(git_dir, "packed-refs", O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	struct reader r = { .fd = fd };
	struct stat st;
	off_t from = 0;

	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_size <= (off_t)(4 * STEP) ||
		!is_sorted(&r))
		return read_file(git_dir, "packed-refs", ret, e);
	r.size = st.st_size;
	narrow(&r, name, &from, &r.size);
	return read_part(fd, from, r.size, ret, e);
}
