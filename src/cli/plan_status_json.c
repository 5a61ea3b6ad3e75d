#include "cli/plan_status_json.h"

#include "cli/json.h"
#include "plan/make.h"
#include "plan/stage_life.h"

static json_t *or_null(const char *text)
{
	return *text ? json_text(text) : json_null();
}

static json_t *result_json(const struct check_row *k)
{
	return json_pack("{s:o, s:o, s:b, s:b, s:o, s:I, s:o, s:o, s:I, s:o}", "kind", json_text(k->kind),
		"title", json_text(k->title), "passed", k->passed, "known", k->cached, "exit_code",
		k->code < 0 ? json_null() : json_integer(k->code), "milliseconds", (json_int_t)k->ms, "note",
		or_null(k->why), "output", json_text(k->output), "attempt", (json_int_t)k->attempt, "when",
		json_time(k->at));
}

json_t *plan_results_json(struct context *c, const struct stage_row *s)
{
	struct err ignored = ERR_INIT;
	auto_check_row_list l = { 0 };
	json_t *list = json_array();

	if (!store_check_list(c->store, s->id, &l, &ignored))
		for (size_t i = 0; i < l.n; i++)
			json_array_append_new(list, result_json(&l.v[i]));
	return list;
}

static json_t *needs_json(const struct plan *p, size_t i)
{
	json_t *list = json_array();

	for (size_t k = 0; k < p->stages[i].nneeds; k++)
		json_array_append_new(list, json_text(p->stages[p->stages[i].needs[k]].id));
	return list;
}

static json_t *stage_json(struct context *c, const struct plan *p, const struct stage_row_list *l, size_t i)
{
	const struct stage_row *s = &l->v[i];
	json_t *o = json_pack("{s:o, s:o, s:o, s:o, s:o, s:I, s:b, s:b}", "stage", json_text(s->name), "task",
		json_text(s->task), "stage_state", json_text(s->state), "note", or_null(s->note), "needs",
		needs_json(p, i), "attempt", (json_int_t)s->attempt, "held",
		stage_is(s, STAGE_HELD) || s->hold, "satisfied", stage_satisfies(s));

	json_object_set_new(o, "stage_tip", or_null(s->tip));
	json_object_set_new(o, "merged_tip", or_null(s->merged));
	json_object_set_new(o, "gate", stage_is(s, STAGE_APPROVAL) ? json_text(s->gate) : json_null());
	json_object_set_new(o, "until", stage_is(s, STAGE_QUOTA) ? json_time(s->until) : json_null());
	json_object_set_new(o, "started", json_time(s->started));
	json_object_set_new(o, "ended", json_time(s->ended));
	json_object_set_new(o, "results", plan_results_json(c, s));
	return o;
}

json_t *plan_row_json(const struct context *c, const struct plan_row *row)
{
	return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:b, s:o, s:o}", "plan", json_text(row->name),
		"task", json_text(row->name), "project", json_text(row->project), "plan_state",
		json_text(row->state), "note", or_null(row->note), "target", json_branch(row->target),
		"merged_tip", or_null(row->merged), "has_runner", plan_has_runner(c, row), "created",
		json_time(row->created), "ended", json_time(row->ended));
}

json_t *plan_history_json(const struct plan_event_list *l)
{
	json_t *list = json_array();

	for (size_t i = 0; i < l->n; i++) {
		const struct plan_event *v = &l->v[i];
		json_t *o = json_pack("{s:o, s:o, s:o}", "when", json_time(v->at), "what", json_text(v->what),
			"note", or_null(v->text));

		if (*v->stage)
			json_object_set_new(o, "stage", json_text(v->stage));
		json_array_append_new(list, o);
	}
	return list;
}

json_t *plan_status_json(
	struct context *c, const struct plan *p, const struct plan_row *row, const struct stage_row_list *l)
{
	json_t *o = plan_row_json(c, row), *list = json_array();

	for (size_t i = 0; i < l->n; i++)
		json_array_append_new(list, stage_json(c, p, l, i));
	json_object_set_new(o, "stages", list);
	return o;
}
