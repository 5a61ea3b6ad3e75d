/*
 * The gateway's two sockets, HTTP/1.1 and JSON (libevent's evhttp): the agent's, which the jail sees, and the
 * user's. Who is asking is known by the socket alone (G2).
 *
 * Limits: GATEWAY_BODY_MAX for a body, and those of http/guard.h on each socket. A request that is not
 * understood is refused and recorded, and the next one works.
 */
#ifndef GATEWAY_SERVER_H
#define GATEWAY_SERVER_H

#include "base/err.h"
#include "gateway/gateway.h"

#define GATEWAY_BODY_MAX (1u << 20)

/* Answers until SIGTERM or GATEWAY_FINISH, until the keeper is gone, or until nobody has been connected for
 * `linger` seconds. Between two requests it does the jobs that the keeper sends (main.h). */
int serve(struct gateway *g, int agent, int user, unsigned linger, struct err *e);

#endif
