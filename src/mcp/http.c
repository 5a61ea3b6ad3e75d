#include "mcp/http.h"

#include <nettle/base64.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "mcp/message.h"

static const char *header(const struct mcp_http_request *q, const char *name)
{
	return message_text(json_object_get(q->headers, name));
}

/* A page on this machine: http://localhost:PORT and the like. */
static bool is_local(const char *origin)
{
	static const char *const hosts[] = { "localhost", "127.0.0.1", "[::1]" };
	const char *host = !strncasecmp(origin, "http://", 7)    ? origin + 7
			   : !strncasecmp(origin, "https://", 8) ? origin + 8
								 : NULL;

	for (size_t i = 0; host && i < ARRAY_SIZE(hosts); i++) {
		size_t n = strlen(hosts[i]);

		if (strncasecmp(host, hosts[i], n))
			continue;
		if (!host[n] ||
			(host[n] == ':' && host[n + 1] && !host[n + 1 + strspn(host + n + 1, "0123456789")]))
			return true;
	}
	return false;
}

static void fail(
	struct mcp_http_answer *ret, int status, const json_t *id, enum mcp_code code, const char *text)
{
	json_decref(ret->body);
	ret->status = status;
	ret->body = mcp_error(id, code, text, NULL);
}

/* A value is plain, or "=?base64?…?="; blanks around it do not count. The caller frees it; NULL if it is malformed. */
static char *decode(const char *given)
{
	static const char begin[] = "=?base64?", end[] = "?=";
	auto_str value = xstrdup(given + strspn(given, " \t"));
	size_t len = strlen(value), n = sizeof(begin) - 1, m = sizeof(end) - 1;
	struct base64_decode_ctx ctx;
	auto_str out = NULL;
	size_t got;

	while (len && strchr(" \t", value[len - 1]))
		value[--len] = '\0';
	if (len < n + m || strncmp(value, begin, n) || strcmp(value + len - m, end))
		return steal_ptr(value);
	got = BASE64_DECODE_LENGTH(len - n - m);
	out = xcalloc(1, got + 1);
	base64_decode_init(&ctx);
	if (!base64_decode_update(&ctx, &got, (uint8_t *)out, len - n - m, value + n) ||
		!base64_decode_final(&ctx))
		return NULL;
	out[got] = '\0';
	return steal_ptr(out);
}

/* Whether the header says what the body says. want NULL: the body has nothing to compare with. */
static bool mirrors(const struct mcp_http_request *q, const char *name, const char *want, struct buf *why)
{
	const char *have = header(q, name);
	auto_str plain = have ? decode(have) : NULL;

	if (have && plain && want && !strcmp(plain, want))
		return true;
	buf_printf(why, "Header mismatch: %s %s", name,
		!have    ? "is missing"
		: !plain ? "is malformed"
			 : "does not match the body");
	return false;
}

static bool check_modern(const struct mcp_http_request *q, const json_t *m, struct buf *why)
{
	const char *method = message_text(json_object_get(m, "method"));
	const json_t *params = json_object_get(m, "params");
	const char *version = mcp_version_of(m);
	const char *named = !method                             ? NULL
			    : !strcmp(method, "tools/call")     ? "name"
			    : !strcmp(method, "prompts/get")    ? "name"
			    : !strcmp(method, "resources/read") ? "uri"
								: NULL;

	/* a missing version in the body is told by mcp_answer */
	if (!header(q, "mcp-protocol-version") || version)
		if (!mirrors(q, "mcp-protocol-version", version, why))
			return false;
	if (!mirrors(q, "mcp-method", method, why))
		return false;
	return !named || mirrors(q, "mcp-name", message_text(json_object_get(params, named)), why);
}

static bool is_legacy_version(const char *version)
{
	for (const char *const *v = mcp_legacy_versions; *v; v++)
		if (!strcmp(*v, version))
			return true;
	return false;
}

/* The header or the body shows that a request uses the stateless protocol. An unknown version is answered in its form. */
static bool is_modern(const struct mcp_http_request *q, const json_t *m)
{
	const char *version = header(q, "mcp-protocol-version");

	return mcp_version_of(m) || (version && !is_legacy_version(version));
}

static bool is_request(const json_t *m)
{
	return json_object_get(m, "id") && json_object_get(m, "method");
}

static bool begins(const json_t *m)
{
	const char *method = message_text(json_object_get(m, "method"));

	return method && !strcmp(method, "initialize");
}

static void answer_legacy(
	struct mcp_server *s, const struct mcp_http_request *q, const json_t *m, struct mcp_http_answer *ret)
{
	const char *version = header(q, "mcp-protocol-version");

	if (begins(m)) {
		ret->session = q->own;
	} else if (!q->session) {
		fail(ret, 400, json_object_get(m, "id"), MCP_INVALID, "The header Mcp-Session-Id is missing");
		return;
	}
	/* without the header it is the version from before the header existed */
	snprintf(s->legacy, sizeof(s->legacy), "%s", version ? version : "2025-03-26");
	ret->body = mcp_answer(s, m, false, &ret->status);
}

static void answer_modern(
	struct mcp_server *s, const struct mcp_http_request *q, const json_t *m, struct mcp_http_answer *ret)
{
	const char *version = header(q, "mcp-protocol-version");
	auto_buf why = BUF_SMALL;
	json_t *supported;

	/* a header with a version that nobody knows, and a body without one */
	if (!mcp_version_of(m) && version && strcmp(version, mcp_versions[0])) {
		supported = json_pack("[s]", mcp_versions[0]);
		ret->status = 400;
		ret->body = mcp_error(json_object_get(m, "id"), MCP_VERSION, "Unsupported protocol version",
			json_pack("{s:o, s:s}", "supported", supported, "requested", version));
		return;
	}
	if (is_request(m) && !check_modern(q, m, &why)) {
		fail(ret, 400, json_object_get(m, "id"), MCP_HEADERS, buf_str(&why));
		return;
	}
	ret->body = mcp_answer(s, m, true, &ret->status);
}

static bool accepts_json(const struct mcp_http_request *q)
{
	const char *accept = header(q, "accept");

	return !accept || strcasestr(accept, "application/json") || strstr(accept, "*/*") ||
	       strcasestr(accept, "application/*");
}

void mcp_http(struct mcp_server *s, const struct mcp_http_request *q, struct mcp_http_answer *ret)
{
	const char *origin = header(q, "origin"), *type = header(q, "content-type");
	auto_str text = NULL;
	char why[160] = "";
	json_t *m;

	*ret = (struct mcp_http_answer){ 0 };
	if (json_object_get(q->headers, "origin") && (!origin || !is_local(origin)))
		return fail(ret, 403, NULL, MCP_INVALID, "This Origin may not ask here");
	if (strcmp(q->method, "POST"))
		return fail(ret, 405, NULL, MCP_INVALID, "Only POST is answered");
	if (!type || strncasecmp(type, "application/json", 16))
		return fail(ret, 415, NULL, MCP_INVALID, "The Content-Type is not application/json");
	if (!accepts_json(q))
		return fail(ret, 406, NULL, MCP_INVALID,
			"The answer is application/json, which Accept leaves out");
	m = message_parse(q->body, q->len, why);
	if (!m) {
		text = xasprintf("Parse error: %s", why);
		return fail(ret, 400, NULL, MCP_PARSE, text);
	}
	if (is_modern(q, m))
		answer_modern(s, q, m, ret);
	else
		answer_legacy(s, q, m, ret);
	json_decref(m);
}
