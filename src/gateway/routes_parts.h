/* Shared by routes.c and the other files routes_*.c. */
#ifndef GATEWAY_ROUTES_PARTS_H
#define GATEWAY_ROUTES_PARTS_H

#include <jansson.h>

#include "gateway/gateway.h"
#include "publish/refusal.h"

struct request {
	struct gateway *gateway;
	json_t *in;          /* an object */
	const char *session; /* that the request names; NULL: none */
	json_t *out;
	struct refusal no;
};

typedef int handler(struct request *q, struct err *e);

/* Fails with ERR_USAGE: the request is malformed. */
int request_bad(struct request *q, struct err *e, const char *what);

/* The code of a refusal that only asks for a short wait: HTTP status 429. */
#define ROUTE_TOO_SOON "too_soon"

/* routes_remote.c: push to and fetch from the user's remote for an agent, as far as the user allows. */
handler route_push, route_fetch;
/* routes_context.c */
handler route_context;
/* routes_stage.c: for the agent of a plan's stage */
handler route_note, route_output, route_complete;

#endif
