#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "mcp/mcp.h"
#include "mcp/message.h"

#define SCHEMA    "http://json-schema.org/draft-07/schema#"
#define COUNT_MAX 9007199254740991.0
#define PLAIN_TEXT                                                                                            \
	"{\"type\":\"object\",\"properties\":{\"content\":{\"type\":\"string\"}},\"required\":[\"content\"]," \
	"\"additionalProperties\":false}"

static json_t *param_schema(const struct mcp_param *p)
{
	static const char *const types[] = { [MCP_STRING] = "string",
		[MCP_COUNT] = "number",
		[MCP_INTEGER] = "number",
		[MCP_BOOL] = "boolean",
		[MCP_STRINGS] = "array",
		[MCP_OBJECTS] = "array" };
	auto_str more = xasprintf("{%s}", p->more ? p->more : "");
	json_t *o = json_loads(more, 0, NULL);

	if (!o)
		o = json_object();
	json_object_set_new(o, "type", json_string(types[p->kind]));
	if (p->kind == MCP_STRINGS)
		json_object_set_new(o, "items", json_pack("{s:s}", "type", "string"));
	if (p->about)
		json_object_set_new(o, "description", json_string(p->about));
	return o;
}

static json_t *input_schema(const struct mcp_tool *t)
{
	json_t *properties = json_object(), *required = json_array(), *ret;

	for (const struct mcp_param *p = t->params; p && p->name; p++) {
		json_object_set_new(properties, p->name, param_schema(p));
		if (p->required)
			json_array_append_new(required, json_string(p->name));
	}
	ret = json_pack("{s:s, s:s, s:o}", "$schema", SCHEMA, "type", "object", "properties", properties);
	if (json_array_size(required))
		json_object_set(ret, "required", required);
	json_decref(required);
	return ret;
}

static json_t *annotations(unsigned hints)
{
	json_t *o = json_pack("{s:b, s:b}", "readOnlyHint", !!(hints & MCP_READS), "openWorldHint", 0);

	if (hints & MCP_READS)
		return o;
	json_object_set_new(o, "idempotentHint", json_boolean(hints & MCP_IDEMPOTENT));
	json_object_set_new(o, "destructiveHint", json_boolean(hints & MCP_DESTROYS));
	return o;
}

json_t *mcp_tool_describe(const struct mcp_tool *t)
{
	json_t *ret = json_pack("{s:s, s:s, s:s, s:o, s:o, s:{s:s}}", "name", t->name, "title", t->title,
		"description", t->about, "inputSchema", input_schema(t), "annotations", annotations(t->hints),
		"execution", "taskSupport", "forbidden");
	json_t *output;

	if (t->hints & MCP_NO_OUTPUT_SCHEMA)
		return ret;
	output = json_loads(t->output ? t->output : PLAIN_TEXT, 0, NULL);
	json_object_set_new(output, "$schema", json_string(SCHEMA));
	json_object_set_new(ret, "outputSchema", output);
	return ret;
}

const struct mcp_tool *mcp_tool_find(const struct mcp_server *s, const char *name)
{
	for (size_t i = 0; i < s->ntools; i++)
		if (!strcmp(s->tools[i].name, name))
			return &s->tools[i];
	return NULL;
}

void mcp_text(struct mcp_call *c, const char *text, size_t len)
{
	json_t *s = json_stringn_nocheck(text, len);

	json_array_append_new(c->content, json_pack("{s:s, s:O}", "type", "text", "text", s));
	if (!c->structured)
		c->structured = json_pack("{s:O}", "content", s);
	json_decref(s);
}

void mcp_fail(struct mcp_call *c, json_t *why)
{
	auto_str text = json_dumps(why, JSON_COMPACT);

	json_array_clear(c->content);
	json_decref(c->structured);
	c->structured = NULL;
	c->failed = true;
	json_array_append_new(
		c->content, json_pack("{s:s, s:s}", "type", "text", "text", text ? text : "{}"));
	json_decref(why);
}

static bool is_number(const json_t *v, bool negative)
{
	double d = json_number_value(v);

	return json_is_number(v) && floor(d) == d && fabs(d) <= COUNT_MAX && (negative || d >= 0);
}

static bool all_are(const json_t *v, bool objects)
{
	const json_t *one;
	size_t i;

	json_array_foreach((json_t *)v, i, one)
	{
		if (objects ? !json_is_object(one) : !message_text(one))
			return false;
	}
	return json_is_array(v);
}

/* What the argument must be, or NULL if it is that. */
static const char *check(const struct mcp_param *p, const json_t *v)
{
	switch (p->kind) {
	case MCP_STRING:
		return json_is_string(v) ? NULL : "a string";
	case MCP_COUNT:
		return is_number(v, false) ? NULL : "a whole number that is not negative";
	case MCP_INTEGER:
		return is_number(v, true) ? NULL : "a whole number";
	case MCP_BOOL:
		return json_is_boolean(v) ? NULL : "true or false";
	case MCP_STRINGS:
		return all_are(v, false) ? NULL : "an array of strings";
	default:
		return all_are(v, true) ? NULL : "an array of objects";
	}
}

static bool check_all(struct mcp_call *c, const struct mcp_tool *t)
{
	for (const struct mcp_param *p = t->params; p && p->name; p++) {
		const json_t *v = json_object_get(c->args, p->name);
		const char *want = v ? check(p, v) : p->required ? "given" : NULL;
		char text[200];

		if (!want)
			continue;
		snprintf(text, sizeof(text), "the argument \"%s\" must be %s", p->name, want);
		mcp_fail(c, json_pack("{s:{s:s, s:s, s:s}}", "error", "code", "bad_arguments", "message",
				    text, "argument", p->name));
		return false;
	}
	return true;
}

json_t *mcp_tool_run(const struct mcp_server *s, const struct mcp_tool *t, const json_t *args)
{
	json_t *none = json_object(), *ret;
	struct mcp_call c = { .ctx = s->ctx, .args = args ? args : none, .content = json_array() };

	if (!json_is_object(c.args))
		mcp_fail(&c, json_pack("{s:{s:s, s:s}}", "error", "code", "bad_arguments", "message",
				     "the arguments are not an object"));
	else if (check_all(&c, t))
		t->fn(&c);
	ret = json_pack("{s:o}", "content", c.content);
	if (c.structured)
		json_object_set_new(ret, "structuredContent", c.structured);
	if (c.failed)
		json_object_set_new(ret, "isError", json_true());
	json_decref(none);
	return ret;
}
