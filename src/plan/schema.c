#include "plan/schema.h"

#include "plan/rows.h"

static json_t *of_rows(const struct plan_key *rows);

/* One value of a kind, or a list of them. */
static json_t *list_of(json_t *item)
{
	json_t *list = json_pack("{s:[s, s], s:O}", "type", "array", "null", "items", item);

	return json_pack("{s:[o, o]}", "anyOf", item, list);
}

static json_t *text(void)
{
	return json_pack("{s:s, s:i}", "type", "string", "minLength", 1);
}

static json_t *choices(const char *const *words)
{
	json_t *list = json_array();

	for (; *words; words++)
		json_array_append_new(list, json_string(*words));
	json_array_append_new(list, json_null());
	return json_pack("{s:o}", "enum", list);
}

static json_t *number(const struct plan_key *row)
{
	return json_pack("{s:[s, s], s:I, s:I}", "type", "integer", "null", "minimum", (json_int_t)row->min,
		"maximum", (json_int_t)row->max);
}

/* A check is a mapping, a text, or either. */
static json_t *checks(enum plan_check_kind kind)
{
	const struct plan_key *rows = plan_check_rows(kind);
	json_t *item;

	if (kind == PLAN_CHECK_DEAD_CODE || kind == PLAN_CHECK_REGRESSION || kind == PLAN_CHECK_WIRING ||
		kind == PLAN_CHECK_WIRING_TEST)
		item = of_rows(rows);
	else
		item = rows ? json_pack("{s:[o, o]}", "anyOf", text(), of_rows(rows)) : text();
	return kind == PLAN_CHECK_DEAD_CODE || kind == PLAN_CHECK_REGRESSION ? item : list_of(item);
}

static json_t *of_text(const struct plan_key *row)
{
	json_t *o = json_pack("{s:[s, s], s:i}", "type", "string", "null", "minLength", 1);

	if (row->type == PLAN_ID)
		json_object_set_new(o, "pattern", json_string("^[A-Za-z0-9_-]{1,128}$"));
	return o;
}

static json_t *value(const struct plan_key *row)
{
	switch (row->type) {
	case PLAN_BOOL:
		return json_pack("{s:[s, s]}", "type", "boolean", "null");
	case PLAN_COUNT:
	case PLAN_CODE:
		return number(row);
	case PLAN_TIME:
		return json_pack("{s:[s, s, s], s:s}", "type", "integer", "string", "null", "pattern",
			"^[0-9]+[smhd]?$");
	case PLAN_CHOICE:
	case PLAN_CHOICE_TEXT:
		return choices(row->choices);
	case PLAN_TEXTS:
	case PLAN_HOSTS:
	case PLAN_PATHS:
	case PLAN_NEEDS:
	case PLAN_PATTERNS:
	case PLAN_RULES:
		return list_of(text());
	case PLAN_CHECKS:
		return checks(row->kind);
	case PLAN_STAGES:
		return json_pack("{s:s, s:i, s:i, s:o}", "type", "array", "minItems", 1, "maxItems",
			PLAN_STAGES_MAX, "items", of_rows(plan_stage_rows));
	case PLAN_MAP:
		return of_rows(row->rows);
	case PLAN_IGNORED:
		return json_object();
	default:
		return of_text(row);
	}
}

static json_t *of_rows(const struct plan_key *rows)
{
	json_t *properties = json_object(), *required = json_array();
	json_t *o = json_pack("{s:[s, s], s:b, s:o, s:o}", "type", "object", "null", "additionalProperties",
		0, "required", required, "properties", properties);

	for (; rows->key; rows++) {
		json_t *v;

		if (rows->frozen)
			continue;
		v = value(rows);
		if (rows->type == PLAN_IGNORED)
			json_object_set_new(
				v, "description", json_sprintf("accepted, without effect: %s", rows->help));
		else
			json_object_set_new(v, "description", json_string(rows->help));
		json_object_set_new(properties, rows->key, v);
		if (rows->required)
			json_array_append_new(required, json_string(rows->key));
	}
	return o;
}

json_t *plan_schema(void)
{
	json_t *plan = of_rows(plan_rows);
	json_t *loom = json_pack("{s:s, s:[s], s:b, s:{s:{s:s}}}", "type", "object", "required", "loom",
		"additionalProperties", 0, "properties", "loom", "$ref", "#/$defs/plan");

	return json_pack("{s:s, s:s, s:{s:[s]}, s:o, s:{s:s}, s:{s:o}}", "$schema",
		"https://json-schema.org/draft/2020-12/schema", "title", "Garth plan", "if", "required",
		"loom", "then", loom, "else", "$ref", "#/$defs/plan", "$defs", "plan", plan);
}
