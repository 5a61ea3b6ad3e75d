#include "cli/file_schema.h"

#include <string.h>

#include "base/alloc.h"
#include "config/taskfile.h"
#include "config/values.h"

/* A mapping of keys. A file may leave it empty, which is null. */
static json_t *object(void)
{
	return json_pack(
		"{s:[s, s], s:{}, s:b}", "type", "object", "null", "properties", "additionalProperties", 0);
}

static json_t *choice(const char *const *choices)
{
	json_t *list = json_array();

	for (; *choices; choices++)
		json_array_append_new(list, json_string(*choices));
	return json_pack("{s:o}", "enum", list);
}

/* A list of texts and lists of words. */
static json_t *commands(void)
{
	json_t *words =
		json_pack("{s:s, s:{s:s}, s:i}", "type", "array", "items", "type", "string", "minItems", 1);

	return json_pack("{s:[s, s, s], s:{s:[{s:s, s:i}, o]}}", "type", "array", "string", "null", "items",
		"anyOf", "type", "string", "minLength", 1, words);
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
	case VALUE_AGENT:
	case VALUE_BRANCH:
		return json_pack("{s:s, s:i}", "type", "string", "minLength", 1);
	case VALUE_RULES:
		return json_pack("{s:[s, s], s:o}", "type", "object", "null", "additionalProperties",
			choice(row->choices));
	case VALUE_COMMANDS:
		return commands();
	case VALUE_CACHES:
		return json_pack("{s:[s, s, s, s]}", "type", "object", "array", "string", "null");
	case VALUE_CHOICES:
		return json_pack("{s:[s, s], s:o}", "type", "array", "null", "items", choice(row->choices));
	case VALUE_WORDS:
	case VALUE_COMMAND:
		return json_pack("{s:[s, s], s:{s:s}, s:i}", "type", "array", "null", "items", "type",
			"string", "minItems", 1);
	default:
		return json_pack("{s:[s, s, s], s:{s:s}}", "type", "array", "string", "null", "items", "type",
			"string");
	}
}

enum file { FILE_CONFIG, FILE_REPOSITORY, FILE_TASK };

/* The repository's file can block git commands and nothing else. */
static json_t *value_in(enum file file, const struct value_row *row)
{
	static const char *const blocked[] = { "blocked", NULL };

	if (file == FILE_REPOSITORY && row->repository == REPOSITORY_BLOCKS)
		return json_pack(
			"{s:[s, s], s:o}", "type", "object", "null", "additionalProperties", choice(blocked));
	return value(row);
}

static bool may_have(enum file file, const struct value_row *row)
{
	if (file == FILE_REPOSITORY)
		return row->repository != REPOSITORY_REFUSED;
	return file == FILE_CONFIG || !row->user_only;
}

/* A row "a.b" becomes a property of a. */
static void add_rows(json_t *to, enum file file, const struct value_row *rows)
{
	for (; rows->key; rows++) {
		const char *dot = strchr(rows->key, '.');
		json_t *at = json_object_get(to, "properties");

		if (!may_have(file, rows))
			continue;
		if (dot) {
			auto_str outer = xstrndup(rows->key, (size_t)(dot - rows->key));

			if (!json_object_get(at, outer))
				json_object_set_new(at, outer, object());
			at = json_object_get(json_object_get(at, outer), "properties");
		}
		json_object_set_new(at, dot ? dot + 1 : rows->key, value_in(file, rows));
	}
}

/* Every other key of "agents" is an agent's name. */
static void add_agents(json_t *to, enum file file)
{
	json_t *agents = json_object_get(json_object_get(to, "properties"), "agents");
	json_t *one = object();

	add_rows(one, file, config_agent_rows);
	json_object_set_new(agents, "additionalProperties", one);
}

static json_t *of_file(enum file file, const char *title)
{
	json_t *o = object();

	json_object_set_new(o, "title", json_string(title));
	add_rows(o, file, config_value_rows);
	if (file != FILE_REPOSITORY)
		add_agents(o, file);
	if (file != FILE_TASK)
		return o;
	add_rows(o, file, taskfile_rows[0]);
	json_object_set_new(o, "required", json_pack("[s]", "agent"));
	json_object_set_new(json_object_get(json_object_get(o, "properties"), "agent"), "required",
		json_pack("[s]", "command"));
	json_object_set_new(
		json_object_get(json_object_get(o, "properties"), "agent"), "type", json_string("object"));
	return o;
}

json_t *schema_of_files(void)
{
	json_t *defs = json_pack("{s:o, s:o, s:o}", "config",
		of_file(FILE_CONFIG, "Garth configuration of a system or a user"), "repository",
		of_file(FILE_REPOSITORY, "Garth configuration of a repository: .garth.yaml"), "task",
		of_file(FILE_TASK, "Garth task file"));

	return json_pack("{s:s, s:s, s:{s:[s]}, s:{s:s}, s:{s:s}, s:o}", "$schema",
		"https://json-schema.org/draft/2020-12/schema", "title", "files of Garth", "if", "required",
		"agent", "then", "$ref", "#/$defs/task", "else", "$ref", "#/$defs/config", "$defs", defs);
}
