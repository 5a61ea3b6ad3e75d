/*
 * The gateway's two sockets, HTTP/1.1 and JSON (libevent's evhttp): the agent's, which the jail sees, and the
 * user's. Who is asking is known by the socket alone (G2).
 *
 * Limits: SERVE_BODY_MAX for a body, SERVE_HEAD_MAX for a head, SERVE_SECONDS for a request to arrive,
 * SERVE_CONNECTIONS_MAX connections at once on each socket; more wait. A request that is not understood is
 * refused and recorded, and the next one works.
 */
#ifndef GATEWAY_SERVER_H
#define GATEWAY_SERVER_H

#include "base/err.h"
#include "gateway/gateway.h"

#define SERVE_BODY_MAX        (1u << 20)
#define SERVE_HEAD_MAX        (16u << 10)
#define SERVE_SECONDS         10
#define SERVE_CONNECTIONS_MAX 32

/* Answers until SIGTERM or GATEWAY_FINISH, until the keeper is gone, or until nobody has been connected for
 * `linger` seconds. Between two requests it does the jobs that the keeper sends (main.h). */
int serve(struct gateway *g, int agent, int user, unsigned linger, struct err *e);

#endif
