#include <stdlib.h>

#include "base/alloc.h"
#include "cli/json.h"
#include "cli/plan_cmd.h"
#include "plan/rows.h"
#include "plan/waves.h"

static json_t *text_or_null(const char *s)
{
	return s ? json_text(s) : json_null();
}

static json_t *number_or_null(uint64_t n)
{
	return n ? json_integer((json_int_t)n) : json_null();
}

static json_t *check_json(const struct plan_check *c)
{
	json_t *o = json_pack("{s:s, s:o, s:o, s:o, s:o}", "kind", plan_check_kinds[c->kind], "line",
		number_or_null(c->at.line), "column", number_or_null(c->at.column), "title",
		text_or_null(c->name), "description", text_or_null(c->description));

	if (c->command)
		json_object_set_new(o, "shell", json_text(c->command));
	if (c->command && c->kind != PLAN_CHECK_DEAD_CODE)
		json_object_set_new(o, "exit_code", json_integer(c->expect.exit_code));
	if (c->glob)
		json_object_set_new(o, "glob", json_text(c->glob));
	if (c->path)
		json_object_set_new(o, "path", json_text(c->path));
	if (c->pattern)
		json_object_set_new(o, "pattern", json_text(c->pattern));
	if (c->text)
		json_object_set_new(o, "text", json_text(c->text));
	return o;
}

static json_t *checks_json(const struct plan_check *v, size_t n)
{
	json_t *list = json_array();

	for (size_t i = 0; i < n; i++)
		json_array_append_new(list, check_json(&v[i]));
	return list;
}

/* Globs from the repository's root, as they are enforced. */
static json_t *patterns_json(const struct plan_patterns *p)
{
	json_t *list = json_array();

	for (size_t i = 0; i < p->n; i++) {
		json_t *globs = json_pack("[s]", p->v[i].glob);

		if (p->v[i].also)
			json_array_append_new(globs, json_text(p->v[i].also));
		json_array_append_new(list, json_pack("{s:o, s:s, s:o}", "text", json_text(p->v[i].text),
						    "read_from", plan_bases[p->v[i].base], "globs", globs));
	}
	return list;
}

static json_t *ids_json(const struct plan *p, const size_t *v, size_t n)
{
	json_t *list = json_array();

	for (size_t i = 0; i < n; i++)
		json_array_append_new(list, json_string(p->stages[v[i]].id));
	return list;
}

static json_t *stage_json(const struct plan *p, const struct plan_stage *s)
{
	json_t *o = json_pack("{s:s, s:s, s:o, s:o, s:s, s:o, s:o, s:o, s:o, s:o, s:o}", "stage", s->id,
		"task", s->task, "title", json_text(s->name), "description", text_or_null(s->description),
		"stage_type", plan_stage_types[s->type], "working_dir", json_text(s->working_dir), "needs",
		ids_json(p, s->needs, s->nneeds), "overlaps", ids_json(p, s->overlaps, s->noverlaps), "scope",
		s->has_files ? patterns_json(&s->files) : json_null(), "protect", patterns_json(&s->protect),
		"checks", checks_json(s->checks, s->nchecks));

	json_object_set_new(o, "agent", text_or_null(s->agent));
	json_object_set_new(o, "approve", json_string(plan_approvals[s->approve]));
	json_object_set_new(o, "timeout", number_or_null(s->timeout));
	json_object_set_new(o, "line", number_or_null(s->at.line));
	return o;
}

static json_t *waves_json(const struct plan *p)
{
	size_t *waves = xcalloc(p->nstages, sizeof(*waves)), n = plan_waves(p, waves);
	json_t *list = json_array();

	for (size_t i = 0; i < n; i++)
		json_array_append_new(list, json_array());
	for (size_t i = 0; i < p->nstages; i++)
		json_array_append_new(json_array_get(list, waves[i]), json_string(p->stages[i].id));
	free(waves);
	return list;
}

json_t *plan_json(const struct plan *p)
{
	json_t *stages = json_array();

	for (size_t i = 0; i < p->nstages; i++)
		json_array_append_new(stages, stage_json(p, &p->stages[i]));
	return json_pack("{s:s, s:s, s:o, s:s, s:o, s:s, s:o, s:o, s:o, s:o, s:o, s:o}", "plan", p->id,
		"task", p->task, "file", json_text(p->file), "digest", p->digest, "target",
		p->target ? json_branch(p->target) : json_null(), "merge", plan_merges[p->merge],
		"max_parallel", number_or_null(p->max_parallel), "checks", checks_json(p->checks, p->nchecks),
		"stages", stages, "waves", waves_json(p), "warnings", json_list(&p->warnings), "no_effect",
		json_list(&p->no_effect));
}
