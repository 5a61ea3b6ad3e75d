/*
 * Hands connections over to the credentials proxy (credentials/server.h), which answers their TLS and passes the requests
 * on with the user's log-in. This is done only for the few hosts for which a client cannot be told another address. The
 * host must also be on the task's list.
 */
#ifndef EGRESS_HAND_OVER_H
#define EGRESS_HAND_OVER_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/hosts.h"
#include "egress/proxy.h"

/* Whether connections to this host are handed over: only those to port 443. */
bool is_handed_over(const struct proxy *p, const struct host *h);
/* `early` has the bytes that the client has sent after its request. -1 and errno; the caller's descriptor stays open. */
int hand_over(const struct proxy *p, int fd, const struct host *h, const char *early, size_t len);

#endif
