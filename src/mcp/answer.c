#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "mcp/mcp.h"
#include "mcp/message.h"

#define META     "io.modelcontextprotocol/"
#define BATCH    100
#define LIST_TTL 3600000

const char *const mcp_legacy_versions[] = { "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05", NULL };
const char *const mcp_versions[] = { "2026-07-28", NULL };

static bool is_one_of(const char *const *list, const char *version)
{
	for (; *list; list++)
		if (!strcmp(*list, version))
			return true;
	return false;
}

json_t *mcp_error(const json_t *id, enum mcp_code code, const char *text, json_t *data)
{
	json_t *e = json_pack("{s:i, s:s}", "code", (int)code, "message", text);
	json_t *ret = json_pack("{s:s}", "jsonrpc", "2.0");

	if (data)
		json_object_set_new(e, "data", data);
	/* without an id the error is about no request that could be read */
	if (id)
		json_object_set(ret, "id", (json_t *)id);
	json_object_set_new(ret, "error", e);
	return ret;
}

const char *mcp_version_of(const json_t *message)
{
	const json_t *meta = json_object_get(json_object_get(message, "params"), "_meta");

	return message_text(json_object_get(meta, META "protocolVersion"));
}

/* A request that is being answered. */
struct request {
	struct mcp_server *s;
	const json_t *id, *params;
	const char *method;
	bool modern;
	int status;
};

static json_t *server_info(const struct mcp_server *s)
{
	json_t *o = json_pack("{s:s, s:s}", "name", s->name, "version", s->version);

	if (s->title)
		json_object_set_new(o, "title", json_string(s->title));
	return o;
}

static json_t *initialize(struct request *q)
{
	const char *asked = message_text(json_object_get(q->params, "protocolVersion"));
	const char *agreed = asked && is_one_of(mcp_legacy_versions, asked) ? asked : mcp_legacy_versions[0];
	json_t *ret;

	snprintf(q->s->legacy, sizeof(q->s->legacy), "%s", agreed);
	ret = json_pack("{s:s, s:{s:{}}, s:o}", "protocolVersion", agreed, "capabilities", "tools",
		"serverInfo", server_info(q->s));
	if (q->s->instructions)
		json_object_set_new(ret, "instructions", json_string(q->s->instructions));
	return ret;
}

static json_t *discover(struct request *q)
{
	json_t *versions = json_array(), *ret;

	for (const char *const *v = mcp_versions; *v; v++)
		json_array_append_new(versions, json_string(*v));
	ret = json_pack("{s:o, s:{s:{}}, s:i, s:s}", "supportedVersions", versions, "capabilities", "tools",
		"ttlMs", LIST_TTL, "cacheScope", "public");
	if (q->s->instructions)
		json_object_set_new(ret, "instructions", json_string(q->s->instructions));
	return ret;
}

static json_t *ping(struct request *q)
{
	(void)q;
	return json_object();
}

static json_t *list(struct request *q)
{
	json_t *tools = json_array(), *ret;

	for (size_t i = 0; i < q->s->ntools; i++)
		json_array_append_new(tools, mcp_tool_describe(&q->s->tools[i]));
	ret = json_pack("{s:o}", "tools", tools);
	if (q->modern) {
		json_object_set_new(ret, "ttlMs", json_integer(LIST_TTL));
		json_object_set_new(ret, "cacheScope", json_string("public"));
	}
	return ret;
}

/* NULL: there is no such tool. */
static json_t *call(struct request *q)
{
	const char *name = message_text(json_object_get(q->params, "name"));
	const struct mcp_tool *t = name ? mcp_tool_find(q->s, name) : NULL;

	return t ? mcp_tool_run(q->s, t, json_object_get(q->params, "arguments")) : NULL;
}

enum era { LEGACY = 1, MODERN = 2, BOTH = 3 };

static const struct {
	const char *name;
	enum era era;
	json_t *(*fn)(struct request *q);
} methods[] = {
	{ "tools/call", BOTH, call },
	{ "tools/list", BOTH, list },
	{ "ping", LEGACY, ping },
	{ "initialize", LEGACY, initialize },
	{ "server/discover", MODERN, discover },
};

/* The members of every result in the stateless protocol. */
static void mark_modern(const struct request *q, json_t *result)
{
	json_object_set_new(result, "resultType", json_string("complete"));
	json_object_set_new(result, "_meta", json_pack("{s:o}", META "serverInfo", server_info(q->s)));
}

/* NULL: the request's metadata are valid. */
static json_t *check_meta(struct request *q)
{
	const json_t *meta = json_object_get(q->params, "_meta");
	const char *version = message_text(json_object_get(meta, META "protocolVersion"));
	json_t *supported;

	q->status = 400;
	if (!version || !json_is_object(json_object_get(meta, META "clientCapabilities")))
		return mcp_error(q->id, MCP_BAD_PARAMS,
			version ? "params._meta has no " META "clientCapabilities"
				: "params._meta has no " META "protocolVersion",
			NULL);
	if (!is_one_of(mcp_versions, version)) {
		supported = json_array();
		for (const char *const *v = mcp_versions; *v; v++)
			json_array_append_new(supported, json_string(*v));
		return mcp_error(q->id, MCP_VERSION, "Unsupported protocol version",
			json_pack("{s:o, s:s}", "supported", supported, "requested", version));
	}
	q->status = 200;
	return NULL;
}

static json_t *answer_request(struct request *q)
{
	json_t *result = NULL, *bad = q->modern ? check_meta(q) : NULL;
	size_t i = 0;

	if (bad)
		return bad;
	while (i < ARRAY_SIZE(methods) &&
		(strcmp(methods[i].name, q->method) || !(methods[i].era & (q->modern ? MODERN : LEGACY))))
		i++;
	if (i == ARRAY_SIZE(methods)) {
		q->status = q->modern ? 404 : 200;
		return mcp_error(q->id, MCP_NO_METHOD, "Method not found", NULL);
	}
	result = methods[i].fn(q);
	if (!result) {
		q->status = q->modern ? 400 : 200;
		return mcp_error(q->id, MCP_BAD_PARAMS, "Unknown tool", NULL);
	}
	if (q->modern)
		mark_modern(q, result);
	return json_pack("{s:o, s:s, s:O}", "result", result, "jsonrpc", "2.0", "id", q->id);
}

static json_t *answer_one(struct mcp_server *s, const json_t *m, bool modern, int *ret_status)
{
	struct request q = { .s = s,
		.id = json_object_get(m, "id"),
		.params = json_object_get(m, "params"),
		.method = message_text(json_object_get(m, "method")),
		.status = 200 };
	const char *version = message_text(json_object_get(m, "jsonrpc"));
	json_t *ret;

	*ret_status = 400;
	if (!json_is_object(m) || !version || strcmp(version, "2.0"))
		return mcp_error(NULL, MCP_INVALID, "Not a message of JSON-RPC 2.0", NULL);
	if (q.id && !json_is_string(q.id) && !json_is_number(q.id))
		return mcp_error(NULL, MCP_INVALID, "The id is neither a string nor a number", NULL);
	if (!json_object_get(m, "method") && q.id &&
		(json_object_get(m, "result") || json_object_get(m, "error"))) {
		/* nothing was asked of the client, so nobody waits for it */
		*ret_status = 202;
		return NULL;
	}
	if (!q.method)
		return mcp_error(q.id, MCP_INVALID, "There is no method", NULL);
	if (!q.id) {
		*ret_status = 202;
		return NULL;
	}
	if (q.params && !json_is_object(q.params))
		return mcp_error(q.id, MCP_INVALID, "params is not an object", NULL);
	q.modern = modern || mcp_version_of(m) || !strcmp(q.method, "server/discover");
	ret = answer_request(&q);
	*ret_status = q.status;
	return ret;
}

static bool may_batch(const struct mcp_server *s)
{
	return !strcmp(s->legacy, "2025-03-26") || !strcmp(s->legacy, "2024-11-05");
}

json_t *mcp_answer(struct mcp_server *s, const json_t *message, bool modern, int *ret_status)
{
	json_t *ret, *one;
	const json_t *m;
	size_t i;
	int ignored;

	if (!json_is_array(message))
		return answer_one(s, message, modern, ret_status);
	*ret_status = 400;
	if (modern || !may_batch(s) || !json_array_size(message) || json_array_size(message) > BATCH)
		return mcp_error(NULL, MCP_INVALID, "A batch cannot be sent here", NULL);
	ret = json_array();
	json_array_foreach((json_t *)message, i, m)
	{
		one = answer_one(s, m, false, &ignored);
		if (one)
			json_array_append_new(ret, one);
	}
	*ret_status = json_array_size(ret) ? 200 : 202;
	if (!json_array_size(ret)) {
		json_decref(ret);
		return NULL;
	}
	return ret;
}
