/*
 * The proxy of network `allow`: HTTP CONNECT, plain HTTP and SOCKS5 on one listening socket, which the jail
 * made inside its network namespace and gave out; here, outside, is where it is accepted. One process for
 * each connection, so that none can stop or break another: what it parses is hostile. The same for a port of
 * the host's loopback that is forwarded, where nothing is parsed and the way is always the same.
 *
 * The list is the task's at the moment of each connection (task/network.h): a running task can be given more.
 *
 * Each connection and each refusal is recorded (audit, and store_asked for `garth show`). Who asks on and on
 * is answered slowly.
 */
#ifndef EGRESS_PROXY_H
#define EGRESS_PROXY_H

#include <stdint.h>

#define PROXY_CONNECTIONS_MAX 128
#define PROXY_HEAD_SECONDS    30

struct proxy {
	int listen[2];    /* -1: none */
	uint16_t forward; /* the host's port that all connections lead to; 0: what each asks for */
	const char *task; /* its name, for list and records */
	int notes;        /* a socket for words to the user (keeper/keeper.h); -1: none */
	unsigned linger;  /* ends when nobody was connected for so many seconds */
};

void proxy_serve(const struct proxy *p);

#endif
