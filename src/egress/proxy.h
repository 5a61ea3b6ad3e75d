/*
 * The proxy of network `allow`: it speaks HTTP CONNECT, plain HTTP and SOCKS5 on one listening socket. The
 * jail makes that socket inside its network namespace and passes it out; the proxy accepts on it outside.
 * Each connection has its own process, because the proxy parses hostile bytes and one connection must not
 * stop or break another.
 *
 * The same code forwards a port of the host's loopback. It then parses nothing, and every connection goes to
 * that port.
 *
 * Connections to some hosts are not opened but handed over to the credentials proxy (hand_over.h).
 *
 * The task's list is read anew for each connection (task/network.h), so the user can add hosts while the task
 * runs.
 *
 * Each connection and each refusal is recorded (in the audit log, and with store_asked for `garth show`). A
 * client that keeps asking is slowed down.
 */
#ifndef EGRESS_PROXY_H
#define EGRESS_PROXY_H

#include <stdint.h>

#include "base/strvec.h"

#define PROXY_CONNECTIONS_MAX 128
#define PROXY_HEAD_SECONDS    30
#define PROXY_NOTE_MAX        1200 /* bytes of such a message */

struct proxy {
	int listen[2];    /* -1: none */
	uint16_t forward; /* the host's port that all connections go to; 0: the host that each one asks for */
	int64_t task;     /* its id, to find the list and for the records */
	int over;         /* to the credentials proxy (hand_over.h); -1: none */
	const struct strvec *handed_over; /* hosts whose connections it gets; may be NULL */
	int notes;       /* a datagram socket: gets a message for each refusal (proxy.c); -1: none */
	unsigned linger; /* proxy_serve returns after so many seconds without a connection */
};

void proxy_serve(const struct proxy *p);

#endif
