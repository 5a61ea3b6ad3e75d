/* Opens the proxy's outgoing connections: resolves a host, checks its addresses against the task's list,
 * connects. */
#ifndef EGRESS_DIAL_H
#define EGRESS_DIAL_H

#include <netinet/in.h>

#include "base/err.h"
#include "base/hosts.h"

#define DIAL_SECONDS 30

/* Resolves a host that is on the list and connects to the first of its addresses that answers. Blocks, for
 * DIAL_SECONDS per address at most. On success *address is the address that answered. ERR_REFUSED: the list
 * does not allow one of the addresses (hosts_allow_address), and *address is that one. ERR_NOTFOUND: there is
 * no such name. */
int dial(const struct strvec *list, const struct host *h, int *ret, char address[INET6_ADDRSTRLEN],
	struct err *e);

/* Connects to a port of this machine's loopback, 127.0.0.1 first. ERR_REFUSED if the port is not on the
 * list. */
int dial_loopback(
	const struct strvec *list, uint16_t port, int *ret, char address[INET6_ADDRSTRLEN], struct err *e);

#endif
