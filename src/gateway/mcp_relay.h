/*
 * MCP over HTTP on the task's socket (POST /mcp): each request is handed to a garth-mcp inside the jail, over pipes,
 * and what that answers is sent back. The gateway does not look into messages, and reads no file of the agent's. The
 * program inside applies the protocol's rules for headers (mcp/http.h).
 *
 * It does not block: a tool may itself ask this gateway. Limits: RELAY_MAX requests at once (more are told to wait),
 * RELAY_SECONDS and RELAY_ANSWER_MAX for each, RELAY_BYTES_MAX for answers, which clients may leave lying; a request
 * whose client has gone is ended.
 *
 *	struct mcp_relay r = { .base = base, .in = &gateway->in };
 *	mcp_relay_start(&r, &(struct mcp_relay_ask){ .head = …, .fn = on_answer, … }, e)
 */
#ifndef GATEWAY_MCP_RELAY_H
#define GATEWAY_MCP_RELAY_H

#include <event2/event.h>
#include <jansson.h>
#include <stddef.h>
#include <time.h>

#include "base/buf.h"
#include "base/err.h"
#include "inside/inside.h"

#define RELAY_MAX        4
#define RELAY_SECONDS    60
#define RELAY_ANSWER_MAX (32u << 20)
#define RELAY_BYTES_MAX  (64u << 20) /* of answers in the time that clients have to take them, HTTP_SECONDS */

struct mcp_relay_call;

struct mcp_relay {
	struct event_base *base;
	struct inside *in;
	struct mcp_relay_call *calls[RELAY_MAX];
	time_t since; /* from when on bytes are counted */
	size_t bytes;
};

/* status 0: there is no answer. session is NULL, or for the header Mcp-Session-Id. */
typedef void mcp_relay_fn(void *arg, int status, const char *session, const char *body, size_t len);
/* Whether anybody still waits for the answer. */
typedef bool mcp_relay_wanted(void *arg);

struct mcp_relay_ask {
	const json_t *head; /* method, headers, session, own */
	const char *body;
	size_t len;
	const char *session; /* $GARTH_SESSION inside */
	mcp_relay_fn *fn;
	mcp_relay_wanted *wanted;
	void *arg;
};

/* fn is called once, later. ERR_BUSY if there are RELAY_MAX already, or too many bytes. */
int mcp_relay_start(struct mcp_relay *r, const struct mcp_relay_ask *q, struct err *e);

#endif
