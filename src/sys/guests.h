/*
 * Who is connected to a listening socket, for servers whose library does not tell when a connection ends and
 * gives each new byte new time: the kernel is asked, descriptor by descriptor, and every connection has a
 * moment until which it may stay.
 */
#ifndef SYS_GUESTS_H
#define SYS_GUESTS_H

#include <sys/socket.h>
#include <sys/types.h>
#include <time.h>

#define GUESTS_FDS 256 /* descriptors below this are looked at */

struct guests {
	int listener;
	struct sockaddr_storage name; /* of the listener, which accepted connections have too */
	socklen_t len;
	struct {
		ino_t socket;
		time_t until;
	} v[GUESTS_FDS]; /* by descriptor */
};

/* -1 and errno. */
int guests_init(struct guests *g, int listener);
unsigned guests_count(const struct guests *g);
/* The guest at this descriptor may stay for so many seconds from now on. */
void guests_grant(struct guests *g, int fd, unsigned seconds);
/* Ends the connections whose time is over; who is new has so many seconds from now on. Once a second or so.
 */
void guests_sweep(struct guests *g, unsigned seconds);

#endif
