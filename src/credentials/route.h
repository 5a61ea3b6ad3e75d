/*
 * Where a request goes. One over plain HTTP names its service in the path, "/SERVICE/v1/messages"; one over a TLS that the
 * proxy answers has a host, and its service is the one whose address begins the URL.
 *
 * What a service does not take is refused. On a host with TLS, it is passed on as it is, since the client speaks with more
 * than the service there, but only without dummies: with one the answer would say that the log-in is wrong.
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
