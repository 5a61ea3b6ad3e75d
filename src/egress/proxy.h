/*
 * The proxy of network `allow`: HTTP CONNECT, plain HTTP and SOCKS5 on one listening socket, which the jail
 * made inside its network namespace and gave out; here, outside, is where it is accepted. One process for
 * each connection, so that none can stop or break another: what it parses is hostile.
 *
 * Each connection and each refusal is recorded (audit, and store_asked for `garth show`). Who asks on and on
 * is answered slowly.
 */
#ifndef EGRESS_PROXY_H
#define EGRESS_PROXY_H

#include "base/strvec.h"

#define PROXY_CONNECTIONS_MAX 128
#define PROXY_HEAD_SECONDS    30

struct proxy {
	int listen;
	const char *task;          /* its name, for the records */
	const struct strvec *list; /* hosts.h */
	unsigned linger;           /* ends when nobody was connected for so many seconds */
};

void proxy_serve(const struct proxy *p);

#endif
