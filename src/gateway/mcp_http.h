/* The two ways of the agent's socket that need a request's headers: MCP, and whose session it is. */
#ifndef GATEWAY_MCP_HTTP_H
#define GATEWAY_MCP_HTTP_H

#include <stdbool.h>

#include "gateway/mcp_relay.h"

struct evhttp_request;

/* "/mcp", or "/mcp/SESSION". */
#define MCP_PATH "/mcp"
bool mcp_http_is(const char *path);

/* The session that a request names: by its path, Garth-Session or Mcp-Session-Id; NULL: by none. */
const char *mcp_http_session(struct evhttp_request *req, const char *path);

/* Answers a request; fn gets the answer, now or later. */
struct mcp_http_ask {
	struct evhttp_request *req;
	const char *method, *path;
	const char *body;
	size_t len;
	mcp_relay_fn *fn;
	mcp_relay_wanted *wanted;
	void *arg;
};
void mcp_http_answer(struct mcp_relay *r, const struct mcp_http_ask *q);

#endif
