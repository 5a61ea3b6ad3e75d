/* From a name to a connection. */
#ifndef EGRESS_DIAL_H
#define EGRESS_DIAL_H

#include <netinet/in.h>

#include "base/err.h"
#include "base/hosts.h"

#define DIAL_SECONDS 30

/* Resolves the host, which the list has, and connects to the first of its addresses that answers. All of them
 * must be such that the list allows them (hosts_allow_address): ERR_REFUSED, and *address is the one that is
 * not. ERR_NOTFOUND: there is no such name. Blocks. *address is what it is connected to. */
int dial(const struct strvec *list, const struct host *h, int *ret, char address[INET6_ADDRSTRLEN],
	struct err *e);

/* A port of this machine's loopback, where the list has it: 127.0.0.1 first. ERR_REFUSED: it has not. */
int dial_loopback(
	const struct strvec *list, uint16_t port, int *ret, char address[INET6_ADDRSTRLEN], struct err *e);

#endif
