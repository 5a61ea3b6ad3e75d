#include "sys/connections.h"

#include <stdbool.h>
#include <sys/stat.h>

#include "sys/clock.h"

int connections_init(struct connections *g, int listener)
{
	*g = (struct connections){ .listener = listener, .len = sizeof(g->name) };
	return getsockname(listener, (struct sockaddr *)&g->name, &g->len);
}

static bool came_here(const struct connections *g, int fd)
{
	struct sockaddr_storage name = { 0 };
	socklen_t len = sizeof(name);

	return fd != g->listener && !getsockname(fd, (struct sockaddr *)&name, &len) && len == g->len &&
	       !memcmp(&name, &g->name, len);
}

unsigned connections_count(const struct connections *g)
{
	unsigned n = 0;

	for (int fd = 3; fd < GUESTS_FDS; fd++)
		n += came_here(g, fd);
	return n;
}

void connections_grant(struct connections *g, int fd, unsigned seconds)
{
	struct stat st;

	if (fd < 0 || fd >= GUESTS_FDS || fstat(fd, &st) < 0)
		return;
	g->v[fd].socket = st.st_ino;
	g->v[fd].until = clock_seconds() + seconds;
}

void connections_sweep(struct connections *g, unsigned seconds)
{
	time_t now = clock_seconds();

	for (int fd = 3; fd < GUESTS_FDS; fd++) {
		struct stat st;

		if (!came_here(g, fd) || fstat(fd, &st) < 0)
			g->v[fd].socket = 0;
		else if (g->v[fd].socket != st.st_ino)
			connections_grant(g, fd, seconds);
		else if (now > g->v[fd].until)
			shutdown(fd, SHUT_RDWR);
	}
}
