#include "cli/schema.h"

#include <string.h>

#include "base/alloc.h"
#include "config/taskfile.h"
#include "config/values.h"

static json_t *object(void)
{
	return json_pack("{s:s, s:{}, s:b}", "type", "object", "properties", "additionalProperties", 0);
}

static json_t *choice(const char *const *choices)
{
	json_t *list = json_array();

	for (; *choices; choices++)
		json_array_append_new(list, json_string(*choices));
	return json_pack("{s:o}", "enum", list);
}

static json_t *value(const struct value_row *row)
{
	switch (row->type) {
	case VALUE_CHOICE:
		return choice(row->choices);
	case VALUE_SIZE:
		return json_pack(
			"{s:[s, s], s:s}", "type", "integer", "string", "pattern", "^[0-9]+(KB|MB|GB)?$");
	case VALUE_TIME:
		return json_pack(
			"{s:[s, s], s:s}", "type", "integer", "string", "pattern", "^[0-9]+[smhd]?$");
	case VALUE_NUMBER:
		return json_pack("{s:s, s:i}", "type", "integer", "minimum", 0);
	case VALUE_POSITIVE:
		return json_pack("{s:s, s:i}", "type", "integer", "minimum", 1);
	case VALUE_PORT:
		return json_pack("{s:s, s:i, s:i}", "type", "integer", "minimum", 0, "maximum", 65535);
	case VALUE_BOOL:
		return json_pack("{s:s}", "type", "boolean");
	case VALUE_PERSON:
		return json_pack("{s:s, s:s}", "type", "string", "pattern", "^.+ <.+>$");
	case VALUE_KEYS:
	case VALUE_TEXT:
	case VALUE_TASK:
	case VALUE_BRANCH:
		return json_pack("{s:s, s:i}", "type", "string", "minLength", 1);
	case VALUE_RULES:
		return json_pack(
			"{s:s, s:o}", "type", "object", "additionalProperties", choice(row->choices));
	case VALUE_CACHES:
		return json_pack("{s:[s, s, s]}", "type", "object", "array", "string");
	case VALUE_CHOICES:
		return json_pack("{s:s, s:o}", "type", "array", "items", choice(row->choices));
	case VALUE_WORDS:
	case VALUE_COMMAND:
		return json_pack(
			"{s:s, s:{s:s}, s:i}", "type", "array", "items", "type", "string", "minItems", 1);
	default:
		return json_pack("{s:[s, s], s:{s:s}}", "type", "array", "string", "items", "type", "string");
	}
}

static void add_rows(json_t *to, const struct value_row *rows);

static json_t *agents(void)
{
	json_t *one = object();

	add_rows(one, config_agent_rows);
	return json_pack("{s:s, s:{s:{s:s, s:i}}, s:o}", "type", "object", "properties", "default", "type",
		"string", "minLength", 1, "additionalProperties", one);
}

/* A row "a.b" becomes a property of a. */
static void add_rows(json_t *to, const struct value_row *rows)
{
	for (; rows->key; rows++) {
		const char *dot = strchr(rows->key, '.');
		json_t *at = json_object_get(to, "properties");

		if (rows->user_only)
			continue;
		if (dot) {
			auto_str outer = xstrndup(rows->key, (size_t)(dot - rows->key));

			if (!json_object_get(at, outer))
				json_object_set_new(at, outer, object());
			at = json_object_get(json_object_get(at, outer), "properties");
		}
		json_object_set_new(
			at, dot ? dot + 1 : rows->key, !strcmp(rows->key, "agents") ? agents() : value(rows));
	}
}

json_t *schema_of_taskfile(void)
{
	json_t *o = object();

	json_object_set_new(o, "$schema", json_string("https://json-schema.org/draft/2020-12/schema"));
	json_object_set_new(o, "title", json_string("Garth task file"));
	for (size_t i = 0; i < ARRAY_SIZE(taskfile_rows); i++)
		add_rows(o, taskfile_rows[i]);
	json_object_set_new(o, "required", json_pack("[s]", "agent"));
	json_object_set_new(json_object_get(json_object_get(o, "properties"), "agent"), "required",
		json_pack("[s]", "command"));
	return o;
}
