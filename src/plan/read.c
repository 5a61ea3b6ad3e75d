#include "plan/read.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/nearest.h"

static void *at(void *base, size_t offset)
{
	return (char *)base + offset;
}

static struct plan_place place_of(const struct yaml *y)
{
	return (struct plan_place){ y->line, y->column };
}

void plan_note(struct plan_reader *r, unsigned line, unsigned column, const char *what, const char *why)
{
	if (r->frozen || strvec_has(&r->ignored, what))
		return;
	strvec_push(&r->ignored, what);
	strvec_pushf(r->no_effect, "%s:%u:%u: '%s' has no effect here: %s", r->file, line, column, what, why);
}

static const struct plan_key *find_row(
	const struct plan_reader *r, const struct plan_key *rows, const char *key)
{
	for (; rows->key; rows++)
		if (!strcmp(rows->key, key) && (!rows->frozen || r->frozen))
			return rows;
	return NULL;
}

static int refuse_key(struct plan_reader *r, const struct yaml *map, size_t i, const struct plan_key *rows,
	const char *what, struct err *e)
{
	struct nearest near = { .typed = map->keys[i].name };
	char meant[NEAREST_TEXT_MAX];

	for (; rows->key; rows++)
		if (!rows->frozen)
			nearest_try(&near, rows->key, strlen(rows->key));
	return yaml_key_error(map, i, r->file, e, "unknown key '%s'%s", what, nearest_text(&near, meant));
}

static int read_row(struct plan_reader *r, const struct yaml *map, size_t i, const struct plan_key *row,
	const char *what, void *base, struct err *e);

/* Reads a mapping whose keys are the rows. `shown` is put before the keys in messages. */
static int read_map(struct plan_reader *r, const struct yaml *map, const struct plan_key *rows,
	const char *shown, void *base, struct err *e)
{
	if (map->kind != YAML_MAP)
		return yaml_error(map, r->file, e, "%s%s%s must be a mapping of keys to values",
			*shown ? "'" : "", *shown ? shown : "the plan", *shown ? "'" : "");
	for (size_t i = 0; i < map->n; i++) {
		const char *key = map->keys[i].name;
		auto_str what = xasprintf("%s%s%s", shown, *shown ? "." : "", key);
		const struct plan_key *row = find_row(r, rows, key);

		int rc = !row                          ? refuse_key(r, map, i, rows, what, e)
			 : yaml_is_null(map->items[i]) ? 0
						       : read_row(r, map, i, row, what, base, e);

		if (plan_mistake(r->mistakes, rc, e) < 0)
			return -1;
	}
	for (; rows->key; rows++) {
		const struct yaml *value = rows->required ? yaml_get(map, rows->key) : NULL;

		if (rows->required && (!value || yaml_is_null(value)) &&
			plan_mistake(r->mistakes,
				yaml_error(value ? value : map, r->file, e, "'%s%s%s' is missing", shown,
					*shown ? "." : "", rows->key),
				e) < 0)
			return -1;
	}
	return 0;
}

static struct plan_check *add_check(struct plan_checks *to)
{
	to->v = xrealloc(to->v, to->n + 1, sizeof(*to->v));
	to->v[to->n] = (struct plan_check){ 0 };
	return &to->v[to->n++];
}

/* What a check is if it is a text. */
static char **text_of(struct plan_check *c)
{
	switch (c->kind) {
	case PLAN_CHECK_ARTIFACT:
		return &c->glob;
	case PLAN_CHECK_WIRING:
	case PLAN_CHECK_WIRING_TEST:
	case PLAN_CHECK_REGRESSION:
	case PLAN_CHECK_KINDS:
		return NULL;
	default:
		return &c->command;
	}
}

static const struct plan_key text_row = { .type = PLAN_TEXT }, path_row = { .type = PLAN_PATH };

/* A truth is a command or a statement, not both. */
static int check_truth(
	struct plan_reader *r, const struct yaml *y, struct plan_check *c, const char *what, struct err *e)
{
	if (!c->command == !c->text)
		return yaml_error(y, r->file, e, "'%s' must have either a 'command' or a 'text'", what);
	if (c->text)
		c->kind = PLAN_CHECK_STATEMENT;
	return 0;
}

/* Whether a check of a frozen plan has what its kind needs. */
static int check_frozen(struct plan_reader *r, const struct yaml *y, const struct plan_check *c,
	const char *what, struct err *e)
{
	bool whole;

	switch (c->kind) {
	case PLAN_CHECK_ARTIFACT:
		whole = c->glob;
		break;
	case PLAN_CHECK_REGRESSION:
		whole = c->path;
		break;
	case PLAN_CHECK_WIRING:
		whole = c->path && c->pattern;
		break;
	case PLAN_CHECK_STATEMENT:
		whole = c->text;
		break;
	default:
		whole = c->command;
	}
	return whole ? 0 : yaml_error(y, r->file, e, "'%s' lacks what its kind needs", what);
}

static int read_check(struct plan_reader *r, const struct yaml *y, enum plan_check_kind kind,
	const char *what, struct plan_checks *to, struct err *e)
{
	const struct plan_key *rows = plan_check_rows(kind);
	struct plan_check *c = add_check(to);
	size_t known = r->mistakes ? r->mistakes->n : 0;
	char **text;

	c->kind = kind;
	c->at = place_of(y);
	text = text_of(c);
	if (y->kind == YAML_MAP && rows) {
		if (read_map(r, y, rows, what, c, e) < 0)
			return -1;
		if (r->mistakes && r->mistakes->n > known)
			return 0;
		return kind == PLAN_CHECK_TRUTH   ? check_truth(r, y, c, what, e)
		       : kind == PLAN_CHECK_KINDS ? check_frozen(r, y, c, what, e)
						  : 0;
	}
	if (!text)
		return yaml_error(y, r->file, e, "'%s' must be made of mappings of keys to values", what);
	c->open = kind == PLAN_CHECK_TRUTH;
	return plan_read_value(r, y, kind == PLAN_CHECK_ARTIFACT ? &path_row : &text_row, what, text, e);
}

static int read_checks(struct plan_reader *r, const struct yaml *y, enum plan_check_kind kind,
	const char *what, struct plan_checks *to, struct err *e)
{
	bool single = kind == PLAN_CHECK_DEAD_CODE || kind == PLAN_CHECK_REGRESSION;

	if (y->kind != YAML_LIST)
		return read_check(r, y, kind, what, to, e);
	if (single)
		return yaml_error(y, r->file, e, "'%s' must be a mapping of keys to values", what);
	for (size_t i = 0; i < y->n; i++)
		if (plan_mistake(r->mistakes, read_check(r, y->items[i], kind, what, to, e), e) < 0)
			return -1;
	return 0;
}

static int read_pattern(struct plan_reader *r, const struct yaml *y, const char *what,
	struct plan_patterns *to, struct err *e)
{
	struct plan_pattern *p;

	to->v = xrealloc(to->v, to->n + 1, sizeof(*to->v));
	p = &to->v[to->n++];
	*p = (struct plan_pattern){ .at = place_of(y) };
	if (r->frozen && y->kind == YAML_MAP)
		return read_map(r, y, plan_frozen_pattern_rows, what, p, e);
	if (plan_read_value(r, y, &(struct plan_key){ .type = PLAN_LINE }, what, &p->text, e) < 0)
		return -1;
	return strlen(p->text) > 1024 ? yaml_error(y, r->file, e, "'%s' has a glob that is too long", what)
				      : 0;
}

static int read_patterns(struct plan_reader *r, const struct yaml *y, const char *what,
	struct plan_patterns *to, struct err *e)
{
	if (y->kind == YAML_MAP)
		return yaml_error(y, r->file, e, "'%s' must be a list of globs", what);
	if (y->kind == YAML_SCALAR)
		return read_pattern(r, y, what, to, e);
	for (size_t i = 0; i < y->n; i++)
		if (plan_mistake(r->mistakes, read_pattern(r, y->items[i], what, to, e), e) < 0)
			return -1;
	return 0;
}

static int read_stages(struct plan_reader *r, const struct yaml *y, struct plan_draft *d, struct err *e)
{
	if (y->kind != YAML_LIST)
		return yaml_error(y, r->file, e, "'stages' must be a list of stages");
	if (!y->n)
		return yaml_error(y, r->file, e, "'stages' is empty: a plan has at least one");
	if (y->n > PLAN_STAGES_MAX)
		return yaml_error(y, r->file, e, "more than %d stages", PLAN_STAGES_MAX);
	d->stages = xcalloc(y->n, sizeof(*d->stages));
	for (; d->nstages < y->n; d->nstages++) {
		struct plan_stage_draft *s = &d->stages[d->nstages];
		const struct yaml *item = y->items[d->nstages], *id = yaml_get(item, "id");
		auto_str shown = id && id->kind == YAML_SCALAR && plan_id_is_valid(id->scalar)
					 ? xasprintf("stages.%s", id->scalar)
					 : xstrdup("stages");

		s->at = place_of(item);
		s->auto_merge = true;
		s->sandbox.enabled = true;
		/* counted even if it fails, so that what has been read of it is released */
		if (plan_mistake(r->mistakes, read_map(r, item, plan_stage_rows, shown, s, e), e) < 0)
			return d->nstages++, -1;
	}
	return 0;
}

static int read_row(struct plan_reader *r, const struct yaml *map, size_t i, const struct plan_key *row,
	const char *what, void *base, struct err *e)
{
	const struct yaml *y = map->items[i];
	void *to = at(base, row->offset);

	if (row->place && !r->frozen)
		*(struct plan_place *)at(base, row->place - 1) = place_of(y);
	switch (row->type) {
	case PLAN_IGNORED:
		plan_note(r, map->keys[i].line, map->keys[i].column, row->key, row->help);
		return 0;
	case PLAN_MAP:
		return read_map(r, y, row->rows, what, to, e);
	case PLAN_CHECKS:
		return read_checks(r, y, row->kind, what, to, e);
	case PLAN_PATTERNS:
		return read_patterns(r, y, what, to, e);
	case PLAN_STAGES:
		return read_stages(r, y, base, e);
	default:
		return plan_read_value(r, y, row, what, to, e);
	}
}

int plan_read_file(struct plan_reader *r, const struct yaml *y, struct plan_draft *d, struct err *e)
{
	const struct yaml *loom = yaml_get(y, "loom");

	d->version = 1;
	d->auto_merge = true;
	d->sandbox.enabled = true;
	d->plan.retries = (struct plan_retries){ PLAN_RETRIES_CRASH, PLAN_RETRIES_CHECK };
	if (loom && y->n > 1)
		return yaml_key_error(y, strcmp(y->keys[0].name, "loom") ? 0 : 1, r->file, e,
			"a key beside 'loom', which has the whole plan");
	return read_map(r, loom ? loom : y, plan_rows, "", d, e);
}
