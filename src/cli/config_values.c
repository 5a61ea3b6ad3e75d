#include "cli/config_values.h"

#include <string.h>

#include "base/alloc.h"
#include "cli/json.h"
#include "config/values.h"

static json_t *of_number(const struct config *c, const struct value_row *row, const void *at)
{
	uint64_t n = *(const uint64_t *)at;

	/* the repository's limit holds beside the one that is computed when it is needed */
	if (row->cap && !n)
		n = *(const uint64_t *)(const void *)((const char *)c + row->cap);
	return json_integer((json_int_t)n);
}

static json_t *of_rules(const struct config *c, const char *key, bool origins)
{
	json_t *o = json_object();

	for (size_t i = 0; i < c->noperations; i++)
		json_object_set_new(o, c->operations[i].name,
			json_text(origins ? config_origin(c, key, c->operations[i].name)
					  : c->operations[i].rule));
	return o;
}

static json_t *of_caches(const struct config *c, const char *key, bool origins)
{
	json_t *o = json_object();

	for (size_t i = 0; i < c->ncaches; i++) {
		auto_str path = xasprintf("~/%s", c->caches[i].path);

		json_object_set_new(o, path,
			json_text(origins ? config_origin(c, key, c->caches[i].path) : c->caches[i].mode));
	}
	return o;
}

/* Four keys fill one list of rules. */
static json_t *of_paths(const struct config *c, enum value_type type, const char *key, bool origins)
{
	enum rule_kind kind = type == VALUE_ALLOW_READ    ? RULE_ALLOW_READ
			      : type == VALUE_ALLOW_WRITE ? RULE_ALLOW_WRITE
			      : type == VALUE_DENY_READ   ? RULE_DENY_READ
							  : RULE_DENY_WRITE;
	const struct rules *r = &c->policy.rules;
	json_t *list = json_array();

	for (size_t i = 0; i < r->n; i++)
		if (r->v[i].kind == kind)
			json_array_append_new(list,
				json_text(origins ? config_origin(c, key, r->v[i].glob) : r->v[i].glob));
	return list;
}

static bool is_paths(enum value_type type)
{
	return type == VALUE_ALLOW_READ || type == VALUE_ALLOW_WRITE || type == VALUE_DENY_READ ||
	       type == VALUE_DENY_WRITE;
}

static json_t *value_of(const struct config *c, const struct value_row *row, const void *at)
{
	switch (row->type) {
	case VALUE_CHOICE:
	case VALUE_PERSON:
	case VALUE_TEXT:
	case VALUE_TASK:
	case VALUE_AGENT:
	case VALUE_KEYS:
	case VALUE_BRANCH:
		return *(char *const *)at ? json_text(*(char *const *)at) : json_null();
	case VALUE_SIZE:
	case VALUE_NUMBER:
	case VALUE_POSITIVE:
	case VALUE_PORT:
	case VALUE_TIME:
		return of_number(c, row, at);
	case VALUE_BOOL:
		return json_boolean(*(const bool *)at);
	case VALUE_RULES:
		return of_rules(c, row->key, false);
	case VALUE_CACHES:
		return of_caches(c, row->key, false);
	case VALUE_ALLOW_READ:
	case VALUE_ALLOW_WRITE:
	case VALUE_DENY_READ:
	case VALUE_DENY_WRITE:
		return of_paths(c, row->type, row->key, false);
	default:
		return json_list(at);
	}
}

static json_t *origin_of(const struct config *c, const struct value_row *row, const char *key, const void *at)
{
	const struct strvec *list = at;
	json_t *origins;

	if (row->type == VALUE_RULES)
		return of_rules(c, key, true);
	if (row->type == VALUE_CACHES)
		return of_caches(c, key, true);
	if (is_paths(row->type))
		return of_paths(c, row->type, key, true);
	if (!value_is_list(row->type))
		return json_text(config_origin(c, key, NULL));
	origins = json_array();
	for (size_t i = 0; i < list->n; i++)
		json_array_append_new(origins, json_text(config_origin(c, key, list->v[i])));
	return origins;
}

static void add(
	json_t *to, const struct config *c, const struct value_row *row, const char *key, const void *at)
{
	json_t *value = value_of(c, row, at);
	bool is_command = row->type == VALUE_WORDS || row->type == VALUE_COMMAND;
	bool unset = json_is_null(value) || (is_command && !json_array_size(value));

	json_array_append_new(to, json_pack("{s:s, s:o, s:o, s:b}", "key", key, "value", value, "origin",
					  origin_of(c, row, key, at), "unset", unset));
}

json_t *config_values(const struct config *c)
{
	json_t *all = json_array();

	for (const struct value_row *row = config_value_rows; row->key; row++)
		add(all, c, row, row->key, (const char *)c + row->offset);
	for (size_t i = 0; i < c->nagents; i++)
		for (const struct value_row *row = config_agent_rows; row->key; row++) {
			auto_str key = xasprintf("agents.%s.%s", c->agents[i].name, row->key);

			add(all, c, row, key, (const char *)&c->agents[i] + row->offset);
		}
	return all;
}

/* An agent's name may have dots, so "agents.my.agent.env" is split at the first and the last one. */
json_t *config_tree(const json_t *values)
{
	json_t *tree = json_object();
	const json_t *v;
	size_t i;

	json_array_foreach(values, i, v)
	{
		const char *key = json_string_value(json_object_get(v, "key"));
		const char *first = strchr(key, '.'), *last = strrchr(key, '.');
		auto_str outer = xstrndup(key, (size_t)(first - key));
		json_t *at = json_object_get(tree, outer);

		if (!at) {
			at = json_object();
			json_object_set_new(tree, outer, at);
		}
		if (last != first) {
			auto_str name = xstrndup(first + 1, (size_t)(last - first - 1));
			json_t *inner = json_object_get(at, name);

			if (!inner) {
				inner = json_object();
				json_object_set_new(at, name, inner);
			}
			at = inner;
		}
		json_object_set(at, last + 1, json_object_get(v, "value"));
	}
	return tree;
}
