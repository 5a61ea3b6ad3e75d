/*
 * A server of the Model Context Protocol that has tools and nothing else, as a library: it implements the protocol, and
 * the program provides the tools.
 *
 *	static const struct mcp_tool tools[] = { { "read_file", …, read_file }, … };
 *	struct mcp_server s = { .name = "garth", .version = "1", .tools = tools, .ntools = 1, .ctx = x };
 *
 *	mcp_stdio(&s, 0, 1);             stdio.h: a message a line, until the input ends
 *	mcp_http(&s, &request, &answer)  http.h: one request of streamable HTTP
 *
 * Both forms of the protocol are served, also mixed:
 *
 *	2024-11-05 … 2025-11-25   begins with `initialize`; batches up to 2025-03-26
 *	2026-07-28                stateless: each request has its version in params._meta
 *
 * If a tool refuses a call, the answer is a result with isError and JSON for the model. Protocol errors are for messages
 * that are not MCP requests. All input is hostile: size, depth and number of values are limited (message.h).
 */
#ifndef MCP_MCP_H
#define MCP_MCP_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

/* Error codes of JSON-RPC and of MCP. */
enum mcp_code {
	MCP_PARSE = -32700,
	MCP_INVALID = -32600,
	MCP_NO_METHOD = -32601,
	MCP_BAD_PARAMS = -32602,
	MCP_HEADERS = -32020,
	MCP_VERSION = -32022,
};

/* What an argument is. */
enum mcp_kind {
	MCP_STRING,
	MCP_COUNT, /* a whole number that is not negative */
	MCP_INTEGER,
	MCP_BOOL,
	MCP_STRINGS, /* an array */
	MCP_OBJECTS, /* an array; the tool checks what is in it */
};

/* An argument of a tool, as data: the schema in tools/list and the check of a call are made from it. */
struct mcp_param {
	const char *name;
	enum mcp_kind kind;
	bool required;
	const char *about; /* NULL: the name says it */
	const char *more;  /* further members of its schema, as JSON text without braces; NULL: none */
};

/* A call that is being answered. A tool adds content, or fails. */
struct mcp_call {
	void *ctx;
	const json_t *args; /* an object that fits the tool's rows */
	json_t *content;    /* the array of content blocks */
	json_t *structured; /* structuredContent, or NULL */
	bool failed;
};

enum mcp_hint { MCP_READS = 1, MCP_DESTROYS = 2, MCP_IDEMPOTENT = 4, MCP_NO_OUTPUT_SCHEMA = 8 };

struct mcp_tool {
	const char *name, *title, *about;
	const struct mcp_param *params; /* ends with a row without a name; NULL: none */
	unsigned hints;                 /* set of enum mcp_hint */
	void (*fn)(struct mcp_call *c);
	const char *output; /* outputSchema as JSON text; NULL: {"content": string} */
};

struct mcp_server {
	const char *name, *title, *version, *instructions;
	const struct mcp_tool *tools;
	size_t ntools;
	void *ctx;
	char legacy[12]; /* the version that `initialize` agreed on; "" before */
};

/* The versions of both forms, newest first; each list ends with NULL. */
extern const char *const mcp_legacy_versions[];
extern const char *const mcp_versions[];

/* Answers a message that was parsed (message.h). NULL: nothing has to be answered. *ret_status is the HTTP status
 * that goes with it. `modern` is false if only the message itself shows which form it uses. */
json_t *mcp_answer(struct mcp_server *s, const json_t *message, bool modern, int *ret_status);
/* The version in params._meta, or NULL. */
const char *mcp_version_of(const json_t *message);
/* An error without a result; id may be NULL, data is consumed and may be NULL. */
json_t *mcp_error(const json_t *id, enum mcp_code code, const char *text, json_t *data);

/* tool.c: what tools/list has of a tool. */
json_t *mcp_tool_describe(const struct mcp_tool *t);
const struct mcp_tool *mcp_tool_find(const struct mcp_server *s, const char *name);
/* Runs a tool and returns the result. args may be NULL, or of any type. */
json_t *mcp_tool_run(const struct mcp_server *s, const struct mcp_tool *t, const json_t *args);

/* For tools: a text block, which is structuredContent too; the text must be UTF-8. */
void mcp_text(struct mcp_call *c, const char *text, size_t len);
/* The call fails with this object, as JSON text for the model; it is consumed. */
void mcp_fail(struct mcp_call *c, json_t *why);

#endif
