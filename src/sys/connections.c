#include "sys/connections.h"

#include <stdbool.h>
#include <sys/stat.h>

#include "sys/clock.h"

int connections_init(struct connections *c, int listener)
{
	*c = (struct connections){ .listener = listener, .len = sizeof(c->name) };
	return getsockname(listener, (struct sockaddr *)&c->name, &c->len);
}

static bool is_accepted(const struct connections *c, int fd)
{
	struct sockaddr_storage name = { 0 };
	socklen_t len = sizeof(name);

	return fd != c->listener && !getsockname(fd, (struct sockaddr *)&name, &len) && len == c->len &&
	       !memcmp(&name, &c->name, len);
}

unsigned connections_count(const struct connections *c)
{
	unsigned n = 0;

	for (int fd = 3; fd < CONNECTIONS_FDS; fd++)
		n += is_accepted(c, fd);
	return n;
}

void connections_grant(struct connections *c, int fd, unsigned seconds)
{
	struct stat st;

	if (fd < 0 || fd >= CONNECTIONS_FDS || fstat(fd, &st) < 0)
		return;
	c->v[fd].socket = st.st_ino;
	c->v[fd].until = clock_seconds() + seconds;
}

void connections_sweep(struct connections *c, unsigned seconds)
{
	time_t now = clock_seconds();

	for (int fd = 3; fd < CONNECTIONS_FDS; fd++) {
		struct stat st;

		if (!is_accepted(c, fd) || fstat(fd, &st) < 0)
			c->v[fd].socket = 0;
		else if (c->v[fd].socket != st.st_ino)
			connections_grant(c, fd, seconds);
		else if (now > c->v[fd].until)
			shutdown(fd, SHUT_RDWR);
	}
}
