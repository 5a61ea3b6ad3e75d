/*
 * Requests about tickets on the agent's socket (plan/ticket_request.h). A process outside of the jail, `garth
 * ticket-request`, answers each of them, over pipes: it may block (`wait`), and what it starts outlives the task. Its
 * answer says what has to be done inside: refs to show, a merge (history/tickets.h).
 *
 * Limits: TICKETS_AT_ONCE requests at once (more are told to wait), TICKETS_SECONDS for each. If a client has gone, its
 * request is ended.
 */
#ifndef GATEWAY_TICKET_RELAY_H
#define GATEWAY_TICKET_RELAY_H

#include <event2/event.h>
#include <stdbool.h>
#include <stddef.h>

#include "gateway/gateway.h"

#define TICKETS_PATH    "/api/v1/tickets"
#define TICKETS_AT_ONCE 8
#define TICKETS_SECONDS 120

struct ticket_call;

struct ticket_relay {
	struct event_base *base;
	struct gateway *gateway;
	struct ticket_call *calls[TICKETS_AT_ONCE];
};

bool ticket_relay_is(const char *path);

/* `answer` is the caller's. */
typedef void ticket_relay_fn(void *arg, int status, json_t *answer);
/* Whether anybody still waits for the answer. */
typedef bool ticket_relay_wanted(void *arg);

struct ticket_relay_ask {
	const char *method, *path;
	const char *body;
	size_t len;
	int client; /* its connection; -1 */
	ticket_relay_fn *fn;
	ticket_relay_wanted *wanted;
	void *arg;
};

/* fn is called once, now or later. */
void ticket_relay_start(struct ticket_relay *r, const struct ticket_relay_ask *q);

#endif
