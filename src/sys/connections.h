/*
 * The connections of a listening socket, for servers whose library does not tell when a connection ends and
 * starts its time-out again with each byte: the kernel is asked, descriptor by descriptor, and every
 * connection has a moment until which it may stay.
 */
#ifndef SYS_CONNECTIONS_H
#define SYS_CONNECTIONS_H

#include <sys/socket.h>
#include <sys/types.h>
#include <time.h>

#define CONNECTIONS_FDS 256 /* descriptors below this are looked at */

struct connections {
	int listener;
	struct sockaddr_storage name; /* of the listener, which accepted connections have too */
	socklen_t len;
	struct {
		ino_t socket;
		time_t until;
	} v[CONNECTIONS_FDS]; /* by descriptor */
};

/* -1 and errno. */
int connections_init(struct connections *c, int listener);
unsigned connections_count(const struct connections *c);
/* The connection at this descriptor may stay for so many seconds from now on. */
void connections_grant(struct connections *c, int fd, unsigned seconds);
/* Ends the connections whose time is over; a new one has so many seconds from now on. Call it once a second.
 */
void connections_sweep(struct connections *c, unsigned seconds);

#endif
