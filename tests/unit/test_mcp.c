#include "testing.h"

#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "mcp/http.h"
#include "mcp/mcp.h"
#include "mcp/message.h"
#include "mcp/stdio.h"

static void echo(struct mcp_call *c)
{
	const json_t *v = json_object_get(c->args, "text");

	mcp_text(c, json_string_value(v), json_string_length(v));
}

static void fail_always(struct mcp_call *c)
{
	mcp_fail(c, json_pack("{s:{s:s}}", "error", "code", "no"));
}

static const struct mcp_param echo_params[] = { { "text", MCP_STRING, true, "What is said" },
	{ "times", MCP_COUNT, false }, { "words", MCP_STRINGS, false }, { "loud", MCP_BOOL, false },
	{ NULL } };
static const struct mcp_tool tools[] = { { "echo", "Echo", "Says it again", echo_params, MCP_READS, echo },
	{ "fail", "Fail", "Fails", NULL, 0, fail_always } };

static struct mcp_server make(void)
{
	return (struct mcp_server){ .name = "test", .version = "1", .tools = tools, .ntools = 2 };
}

/* What a line is answered with. */
static char *say(struct mcp_server *s, const char *line)
{
	auto_buf out = BUF_INIT(MCP_ANSWER_MAX);

	mcp_line(s, line, strlen(line), &out);
	return buf_steal(&out) ?: xstrdup("");
}

#define assert_says(s, line, want)                                                                           \
	do {                                                                                                 \
		auto_str said = say(s, line);                                                                \
		if (!strstr(said, want))                                                                     \
			fail_msg("%s is answered with %s", line, said);                                      \
	} while (0)

#define assert_silent(s, line)                                                                               \
	do {                                                                                                 \
		auto_str said = say(s, line);                                                                \
		assert_string_equal(said, "");                                                               \
	} while (0)

#define CALL(args) "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"tools/call\",\"params\":" args "}"

static void initialize_agrees_on_a_version(void **state)
{
	struct mcp_server s = make();

	(void)state;
	assert_says(&s,
		"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{\"protocolVersion\":\"2025-03-26\"}}",
		"\"protocolVersion\":\"2025-03-26\"");
	assert_says(&s,
		"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{\"protocolVersion\":\"1999\"}}",
		"\"protocolVersion\":\"2025-11-25\"");
	assert_string_equal(s.legacy, "2025-11-25");
	assert_says(&s, "{\"jsonrpc\":\"2.0\",\"id\":\"x\",\"method\":\"ping\"}", "\"result\":{}");
}

static void tools_are_listed_and_called(void **state)
{
	struct mcp_server s = make();

	(void)state;
	assert_says(&s, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}", "\"name\":\"echo\"");
	assert_says(
		&s, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}", "\"required\":[\"text\"]");
	assert_says(&s,
		CALL("{\"name\":\"echo\",\"arguments\":{\"text\":\"a\\u0000\\\"\\n\\u00fc\\u0001\"}}"),
		"\"structuredContent\":{\"content\":\"a\\u0000\\\"\\n\xc3\xbc\\u0001\"}");
	assert_says(&s, CALL("{\"name\":\"fail\"}"), "\"isError\":true");
	assert_says(&s, CALL("{\"name\":\"none\"}"), "-32602");
	assert_says(&s, CALL("{}"), "-32602");
	assert_says(&s, CALL("[]"), "-32600");
}

static void wrong_arguments_are_results(void **state)
{
	static const char *const wrong[] = { "{}", "[]", "5", "{\"text\":5}", "{\"text\":null}",
		"{\"text\":\"x\",\"times\":-1}", "{\"text\":\"x\",\"times\":1.5}",
		"{\"text\":\"x\",\"times\":1e300}", "{\"text\":\"x\",\"words\":[1]}",
		"{\"text\":\"x\",\"words\":\"y\"}", "{\"text\":\"x\",\"loud\":1}",
		"{\"text\":\"x\",\"words\":[\"a\\u0000b\"]}" };
	struct mcp_server s = make();

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		auto_str line = xasprintf(CALL("{\"name\":\"echo\",\"arguments\":%s}"), wrong[i]);

		assert_says(&s, line, "\"isError\":true");
		assert_says(&s, line, "bad_arguments");
	}
	assert_says(&s, CALL("{\"name\":\"echo\",\"arguments\":{\"text\":\"x\",\"times\":2.0,\"more\":1}}"),
		"\"x\"");
}

static void messages_that_are_none(void **state)
{
	struct mcp_server s = make();

	(void)state;
	assert_says(&s, "{", "-32700");
	assert_says(&s, "\"x\"", "-32700");
	assert_says(&s, "{\"jsonrpc\":\"2.0\",\"id\":1,\"id\":2,\"method\":\"ping\"}", "-32700");
	assert_says(&s, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xff\"}", "-32700");
	assert_says(&s, "{\"jsonrpc\":\"1.0\",\"id\":1,\"method\":\"ping\"}", "-32600");
	assert_says(&s, "{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"ping\"}", "-32600");
	assert_says(&s, "{\"jsonrpc\":\"2.0\",\"id\":[],\"method\":\"ping\"}", "-32600");
	assert_says(&s, "{\"jsonrpc\":\"2.0\",\"id\":1}", "-32600");
	assert_says(&s, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"nothing\"}", "-32601");
	assert_says(&s, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\\u0000\"}", "-32600");
	/* no answer: notifications, answers, empty lines */
	assert_silent(&s, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\"}");
	assert_silent(&s, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}");
	assert_silent(&s, "  ");
}

static void bombs_are_refused_before_they_are_parsed(void **state)
{
	struct mcp_server s = make();
	auto_buf deep = BUF_INIT(1 << 20), wide = BUF_INIT(1 << 20);

	(void)state;
	for (unsigned i = 0; i < 1000; i++)
		buf_addch(&deep, '[');
	buf_addch(&wide, '[');
	for (unsigned i = 0; i < MCP_VALUES_MAX + 1; i++)
		buf_addstr(&wide, "1,");
	assert_says(&s, buf_str(&deep), "nested too deeply");
	assert_says(&s, buf_str(&wide), "too many values");
	/* brackets in a string are none */
	assert_says(&s, CALL("{\"name\":\"echo\",\"arguments\":{\"text\":\"[[[[{{{{,,,,\\\\\\\"[[\"}}"),
		"[[[[{{{{");
}

static void batches_are_for_old_clients(void **state)
{
	static const char batch[] = "[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"},"
				    "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/x\"},"
				    "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"ping\"}]";
	struct mcp_server s = make();

	(void)state;
	assert_says(&s, batch, "-32600");
	memcpy(s.legacy, "2025-03-26", 11);
	assert_says(&s, batch,
		"[{\"result\":{},\"jsonrpc\":\"2.0\",\"id\":1},{\"result\":{},\"jsonrpc\":\"2.0\",\"id\":2}]");
	assert_says(&s, "[]", "-32600");
}

#define META(v)                                                                                              \
	"\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"" v                                        \
	"\",\"io.modelcontextprotocol/clientCapabilities\":{}}"

static void the_stateless_era(void **state)
{
	struct mcp_server s = make();

	(void)state;
	assert_says(&s,
		"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"server/discover\",\"params\":{" META(
			"2026-07-28") "}}",
		"\"supportedVersions\":[\"2026-07-28\"]");
	assert_says(&s, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"server/discover\"}", "-32602");
	assert_says(&s,
		"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"server/discover\",\"params\":{" META(
			"2030-01-01") "}}",
		"\"requested\":\"2030-01-01\"");
	assert_says(&s,
		"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\",\"params\":{" META(
			"2026-07-28") "}}",
		"\"cacheScope\":\"public\"");
	assert_says(&s, CALL("{\"name\":\"echo\",\"arguments\":{\"text\":\"x\"}," META("2026-07-28") "}"),
		"\"resultType\":\"complete\"");
	/* what the other era has is not there */
	assert_says(&s,
		"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"params\":{" META("2026-07-28") "}}",
		"-32601");
	assert_says(&s,
		"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{" META(
			"2026-07-28") "}}",
		"-32601");
}

/* One request: headers as JSON; the status, and that the answer has this text. */
static void over_http(const char *method, const char *session, const char *headers, const char *body,
	int status, const char *want)
{
	struct mcp_server s = make();
	json_t *h = json_loads(headers, 0, NULL);
	struct mcp_http_answer a;
	auto_buf out = BUF_SMALL;

	assert_non_null(h);
	if (!json_object_get(h, "content-type"))
		json_object_set_new(h, "content-type", json_string("application/json"));
	mcp_http(&s,
		&(struct mcp_http_request){ .method = method,
			.headers = h,
			.session = session,
			.own = "own",
			.body = body,
			.len = strlen(body) },
		&a);
	if (a.body)
		message_write(&out, a.body);
	if (a.status != status || (want ? !strstr(buf_str(&out), want) : out.len != 0))
		fail_msg("%s %s: %d %s", headers, body, a.status, buf_str(&out));
	json_decref(a.body);
	json_decref(h);
}

#define PING   "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}"
#define MODERN "\"mcp-protocol-version\":\"2026-07-28\""
#define MODERN_ECHO                                                                                                                   \
	"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"echo\",\"arguments\":{\"text\":\"x\"}," META( \
		"2026-07-28") "}}"

static void http_of_the_first_era(void **state)
{
	(void)state;
	over_http("POST", NULL, "{}", "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\"}", 200,
		"serverInfo");
	over_http("POST", NULL, "{}", PING, 400, "Mcp-Session-Id");
	over_http("POST", "s", "{}", PING, 200, "\"result\":{}");
	over_http("POST", "s", "{\"mcp-protocol-version\":\"2025-06-18\"}", PING, 200, "\"result\":{}");
	over_http("POST", "s", "{\"mcp-protocol-version\":\"1999\"}", PING, 400, "-32022");
	over_http("POST", "s", "{}", "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}", 202,
		NULL);
	over_http("POST", "s", "{}", "{", 400, "-32700");
	over_http("POST", "s", "{}", "[" PING "]", 200, "[{\"result\"");
	over_http("POST", "s", "{\"mcp-protocol-version\":\"2025-06-18\"}", "[" PING "]", 400, "-32600");
	over_http("GET", "s", "{}", "", 405, "POST");
	over_http("DELETE", "s", "{}", "", 405, "POST");
	over_http("POST", "s", "{\"content-type\":\"text/plain\"}", PING, 415, "Content-Type");
	over_http("POST", "s", "{\"accept\":\"text/html\"}", PING, 406, "Accept");
}

static void http_of_the_stateless_era(void **state)
{
	(void)state;
	over_http("POST", NULL, "{" MODERN ",\"mcp-method\":\"tools/call\",\"mcp-name\":\"echo\"}",
		MODERN_ECHO, 200, "\"x\"");
	over_http("POST", NULL,
		"{" MODERN ",\"mcp-method\":\"tools/call\",\"mcp-name\":\"=?base64?ZWNobw==?=\"}",
		MODERN_ECHO, 200, "\"x\"");
	over_http("POST", NULL, "{" MODERN ",\"mcp-method\":\"tools/call\",\"mcp-name\":\" echo \"}",
		MODERN_ECHO, 200, "\"x\"");
	over_http("POST", NULL, "{" MODERN ",\"mcp-method\":\"tools/call\",\"mcp-name\":\"=?base64?!?=\"}",
		MODERN_ECHO, 400, "-32020");
	over_http("POST", NULL, "{" MODERN ",\"mcp-method\":\"tools/call\",\"mcp-name\":\"fail\"}",
		MODERN_ECHO, 400, "-32020");
	over_http("POST", NULL, "{" MODERN ",\"mcp-method\":\"tools/call\"}", MODERN_ECHO, 400, "-32020");
	over_http("POST", NULL, "{" MODERN ",\"mcp-method\":\"tools/list\",\"mcp-name\":\"echo\"}",
		MODERN_ECHO, 400, "-32020");
	over_http("POST", NULL, "{\"mcp-method\":\"tools/call\",\"mcp-name\":\"echo\"}", MODERN_ECHO, 400,
		"-32020");
	over_http("POST", NULL,
		"{\"mcp-protocol-version\":\"2025-06-18\",\"mcp-method\":\"tools/call\",\"mcp-name\":\"echo\"}",
		MODERN_ECHO, 400, "-32020");
	over_http("POST", NULL, "{" MODERN ",\"mcp-method\":\"ping\"}", PING, 400, "-32602");
	over_http("POST", NULL, "{" MODERN ",\"mcp-method\":\"x/y\"}",
		"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"x/y\",\"params\":{" META("2026-07-28") "}}", 404,
		"-32601");
}

static void other_origins_are_refused(void **state)
{
	static const char *const bad[] = { "http://evil.com", "null", "", "http://localhost.evil.com",
		"http://localhost:80x", "http://127.0.0.1.evil", "file://", "http://127.0.0.1@evil" };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		auto_str headers = xasprintf("{\"origin\":\"%s\"}", bad[i]);

		over_http("POST", "s", headers, PING, 403, "Origin");
	}
	over_http("POST", "s", "{\"origin\":5}", PING, 403, "Origin");
	over_http("POST", "s", "{\"origin\":\"http://localhost:3000\"}", PING, 200, "result");
	over_http("POST", "s", "{\"origin\":\"https://[::1]\"}", PING, 200, "result");
}

static void utf8_is_checked(void **state)
{
	static const char *const bad[] = { "a\x80", "\xc0\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80",
		"\xe2\x82", "12345678\xff" };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		assert_true(utf8_valid(bad[i], strlen(bad[i])) < strlen(bad[i]));
	assert_int_equal(utf8_valid("gr\xc3\xbcn \xf0\x9f\x8c\xb3 12345678", 20), 20);
	assert_int_equal(utf8_valid("12345678\xff", 9), 8);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(initialize_agrees_on_a_version),
		cmocka_unit_test(tools_are_listed_and_called),
		cmocka_unit_test(wrong_arguments_are_results),
		cmocka_unit_test(messages_that_are_none),
		cmocka_unit_test(bombs_are_refused_before_they_are_parsed),
		cmocka_unit_test(batches_are_for_old_clients),
		cmocka_unit_test(the_stateless_era),
		cmocka_unit_test(http_of_the_first_era),
		cmocka_unit_test(http_of_the_stateless_era),
		cmocka_unit_test(other_origins_are_refused),
		cmocka_unit_test(utf8_is_checked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
