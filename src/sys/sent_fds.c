#include "sys/sent_fds.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "sys/fd.h"

#define LOOKS       8
#define LOOKS_QUIET 3 /* if the first looks see nothing, that is enough */
#define WAIT_NS     23000000
#define INFO_MAX    1024

static void add(struct sent_fds *s, char *path, int copy)
{
	s->paths[s->n] = path;
	s->copies[s->n++] = copy;
}

void sent_fds_add(struct sent_fds *s, const char *path)
{
	if (s->n < SENT_FDS_SOCKETS)
		add(s, xstrdup(path), -1);
	else
		s->too_many = true;
}

void sent_fds_add_copy(struct sent_fds *s, int fd)
{
	int copy = s->n < SENT_FDS_SOCKETS ? fcntl(fd, F_DUPFD_CLOEXEC, 3) : -1;

	if (copy >= 0)
		add(s, xasprintf("/proc/self/fdinfo/%d", copy), copy);
	else
		s->too_many = true;
}

/* The kernel tells how many descriptors wait in a socket. */
static bool has_some(const char *path)
{
	auto_fd fd = open(path, O_RDONLY | O_CLOEXEC);
	char text[INFO_MAX];
	ssize_t n = fd < 0 ? -1 : read_full(fd, text, sizeof(text) - 1);
	const char *at;

	if (n <= 0)
		return false;
	text[n] = '\0';
	at = strstr(text, "scm_fds:");
	return at && strtoul(at + strlen("scm_fds:"), NULL, 10);
}

/* Forwards and backwards: what goes round in the same direction as we do may stay behind us. */
static bool look(const struct sent_fds *s)
{
	for (size_t i = 0; i < 2 * s->n; i++)
		if (has_some(s->paths[i < s->n ? i : 2 * s->n - 1 - i]))
			return true;
	return false;
}

bool sent_fds_stay(const struct sent_fds *s)
{
	int seen = 0;

	if (s->too_many || !s->n)
		return s->too_many;
	for (int i = 0; i < LOOKS && seen * 2 < LOOKS; i++) {
		if (i)
			nanosleep(&(struct timespec){ .tv_nsec = WAIT_NS }, NULL);
		seen += look(s);
		if (i + 1 == LOOKS_QUIET && !seen)
			break;
	}
	return seen * 2 >= LOOKS;
}

void sent_fds_release(struct sent_fds *s)
{
	for (size_t i = 0; i < s->n; i++) {
		free(s->paths[i]);
		if (s->copies[i] >= 0)
			close(s->copies[i]);
	}
	s->n = 0;
	s->too_many = false;
}
