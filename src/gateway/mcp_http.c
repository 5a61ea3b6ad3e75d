#include "gateway/mcp_http.h"

#include <event2/http.h>
#include <event2/keyvalq_struct.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/queue.h>

#include "audit/audit.h"
#include "base/alloc.h"
#include "task/sessions.h"

/* What the program inside is told of a request's head. Each may be there once. */
static const char *const passed_on[] = { "origin", "accept", "content-type", "mcp-protocol-version",
	"mcp-method", "mcp-name", "mcp-session-id", "garth-session" };

bool mcp_http_is(const char *path)
{
	return !strcmp(path, MCP_PATH) || !strncmp(path, MCP_PATH "/", strlen(MCP_PATH "/"));
}

const char *mcp_http_session(struct evhttp_request *req, const char *path)
{
	struct evkeyvalq *headers = evhttp_request_get_input_headers(req);
	const char *named = evhttp_find_header(headers, "Garth-Session");

	if (!strncmp(path, MCP_PATH "/", strlen(MCP_PATH "/")))
		return path + strlen(MCP_PATH "/");
	return named ? named : evhttp_find_header(headers, "Mcp-Session-Id");
}

/* NULL: a header is there twice. */
static json_t *take_headers(struct evhttp_request *req)
{
	const struct evkeyval *h;
	json_t *ret = json_object();

	TAILQ_FOREACH(h, evhttp_request_get_input_headers(req), next)
	{
		for (size_t i = 0; i < ARRAY_SIZE(passed_on); i++) {
			if (strcasecmp(h->key, passed_on[i]))
				continue;
			if (json_object_get(ret, passed_on[i])) {
				json_decref(ret);
				return NULL;
			}
			json_object_set_new(ret, passed_on[i], audit_text(h->value));
		}
	}
	return ret;
}

static void refuse_it(const struct mcp_http_ask *q, int status, const char *text)
{
	auto_buf body = BUF_SMALL;

	buf_printf(&body, "{\"jsonrpc\":\"2.0\",\"error\":{\"code\":-32600,\"message\":\"%s\"}}", text);
	q->fn(q->arg, status, NULL, buf_str(&body), body.len);
}

void mcp_http_answer(struct mcp_relay *r, const struct mcp_http_ask *q)
{
	const char *session = mcp_http_session(q->req, q->path);
	json_t *headers, *head;
	struct err e = ERR_INIT;
	char own[37] = "";
	bool is_own;

	if (inside_refresh(r->in, &e) < 0 || sessions_main(&r->in->task, r->in->at.ws.dir, own, &e) < 0)
		return refuse_it(q, 500, "The task cannot be looked at");
	if (session && !sessions_has(&r->in->task, r->in->at.ws.dir, session, &is_own))
		return refuse_it(q, 404, "This task has no such session");
	headers = take_headers(q->req);
	if (!headers)
		return refuse_it(q, 400, "A header appears twice");
	head = json_pack(
		"{s:s, s:o, s:s}", "method", q->method, "headers", headers, "own", session ? session : own);
	if (session)
		json_object_set_new(head, "session", json_string(session));
	if (mcp_relay_start(r,
		    &(struct mcp_relay_ask){ .head = head,
			    .body = q->body,
			    .len = q->len,
			    .session = session ? session : own,
			    .fn = q->fn,
			    .wanted = q->wanted,
			    .arg = q->arg },
		    &e) < 0)
		refuse_it(q, e.kind == ERR_BUSY ? 429 : 500,
			e.kind == ERR_BUSY ? "Too many requests at once" : "The task does not answer");
	json_decref(head);
}
