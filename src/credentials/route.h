/*
 * Decides where a request goes. A request over plain HTTP names its service in the path, "/SERVICE/v1/messages". A request
 * over TLS that the proxy answers has a host; its service is the one whose address is the beginning of the URL.
 *
 * A request that the service does not accept is refused. On a host with TLS it is passed on unchanged, because the client
 * may use other services of that host, but only if it has no dummy: with a dummy the answer would be that the log-in is
 * wrong.
 */
#ifndef CREDENTIALS_ROUTE_H
#define CREDENTIALS_ROUTE_H

#include <sys/types.h>

#include "credentials/head.h"
#include "credentials/vault.h"

struct route {
	ssize_t service;  /* its number in the table; -1: none, it is passed on as it is */
	const char *path; /* in h->target: what follows the service's address */
	int status;       /* if it is refused */
	const char *why;
};

/* host: NULL for plain HTTP. False if it is refused. */
bool route_find(const struct vault *t, const struct head *h, const char *host, struct route *ret);

#endif
