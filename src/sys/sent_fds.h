/*
 * Finds out whether descriptors stay in flight: sent through unix sockets, and not received. They are in no process's
 * table. A program that passes descriptors receives them within a moment. One that hides them may send them from socket
 * to socket, so that each socket is empty most of the time. So all sockets are looked at together, several times.
 *
 *	struct sent_fds s = { 0 };
 *	sent_fds_add(&s, "/proc/17/fdinfo/4"); …
 *	if (sent_fds_stay(&s)) …
 *	sent_fds_release(&s);
 */
#ifndef SYS_SENT_FDS_H
#define SYS_SENT_FDS_H

#include <stdbool.h>
#include <stddef.h>

#define SENT_FDS_SOCKETS 500

struct sent_fds {
	char *paths[SENT_FDS_SOCKETS]; /* of the sockets' fdinfo */
	int copies[SENT_FDS_SOCKETS];  /* our own descriptor for the socket, or -1 */
	size_t n;
	bool too_many;
};

/* Adds a socket by the path of its fdinfo. */
void sent_fds_add(struct sent_fds *s, const char *path);
/* Adds a socket by a descriptor of this process, which is duplicated. */
void sent_fds_add_copy(struct sent_fds *s, int fd);
/* Whether descriptors are in flight in at least half of the looks, which takes up to 0.2 seconds; true if there are too
 * many sockets to look at. */
bool sent_fds_stay(const struct sent_fds *s);
/* Empties the list. */
void sent_fds_release(struct sent_fds *s);

#endif
