/*
 * One request of streamable HTTP, with the header rules of both protocols, with sessions and stateless (mcp.h). An HTTP
 * server passes the request on (the gateway, through a pipe into the jail), so this neither listens nor reads. An answer
 * is JSON, never a stream.
 *
 *	403  an Origin that is not of this machine
 *	405  not POST: there is no stream to GET, and no session to DELETE
 *	400  no message; an unknown version; headers that are missing or do not match the body
 *	202  a notification
 *
 * Before 2026-07-28 `initialize` gives the session's id (Mcp-Session-Id), which each further request must have.
 */
#ifndef MCP_HTTP_H
#define MCP_HTTP_H

#include "mcp/mcp.h"

struct mcp_http_request {
	const char *method;
	const json_t *headers; /* an object; names in lower case */
	const char *session; /* the caller's session, as far as the server knows it; NULL: it has not said */
	const char *own;     /* the session that `initialize` gives; NULL: none */
	const char *body;
	size_t len;
};

struct mcp_http_answer {
	int status;
	json_t *body;        /* NULL: none */
	const char *session; /* for the header Mcp-Session-Id; NULL: none */
};

void mcp_http(struct mcp_server *s, const struct mcp_http_request *q, struct mcp_http_answer *ret);

#endif
