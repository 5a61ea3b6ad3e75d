#include "base/alloc.h"
#include "store/db.h"
#include "store/plan.h"

/* fill() reads them in this order. */
#define COLUMNS                                                                                                          \
	"stage.id, plan_id, number, stage.name, task, stage.task_id, stage.state, back, stage.note, gate,"               \
	" tip, failed_tip, failure, approved, prompt, stage.merged, hold, satisfied, starting, slot, run, attempt,"      \
	" crashes, failures, conflicts, stage.waits, queued, until, stage.started, stage.ended, stage.changed, version," \
	" own_id"

void stage_row_release(struct stage_row *s)
{
	char *texts[] = { s->name, s->task, s->state, s->back, s->note, s->gate, s->tip, s->failed_tip,
		s->failure, s->approved, s->prompt, s->merged };

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		free(texts[i]);
	*s = (struct stage_row){ 0 };
}

void stage_row_list_release(struct stage_row_list *l)
{
	for (size_t i = 0; i < l->n; i++)
		stage_row_release(&l->v[i]);
	free(l->v);
	*l = (struct stage_row_list){ 0 };
}

static void fill(sqlite3_stmt *st, struct stage_row *s)
{
	char **texts[] = { &s->state, &s->back, &s->note, &s->gate, &s->tip, &s->failed_tip, &s->failure,
		&s->approved, &s->prompt, &s->merged };
	int64_t *numbers[] = { &s->run, &s->attempt, &s->crashes, &s->failures, &s->conflicts, &s->waits,
		&s->queued, &s->until, &s->started, &s->ended, &s->changed, &s->version, &s->own_id };
	bool *flags[] = { &s->hold, &s->satisfied, &s->starting, &s->slot };
	int c = 6;

	*s = (struct stage_row){ .id = sqlite3_column_int64(st, 0),
		.plan_id = sqlite3_column_int64(st, 1),
		.number = sqlite3_column_int64(st, 2),
		.name = db_text(st, 3),
		.task = db_text(st, 4),
		.task_id = sqlite3_column_int64(st, 5) };
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		*texts[i] = db_text(st, c++);
	for (size_t i = 0; i < ARRAY_SIZE(flags); i++)
		*flags[i] = sqlite3_column_int(st, c++);
	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++)
		*numbers[i] = sqlite3_column_int64(st, c++);
}

int store_stage_list(struct store *s, int64_t plan, struct stage_row_list *ret, struct err *e)
{
	auto_stage_row_list l = { 0 };
	auto_stmt st = NULL;
	int got;

	if (db_prepare(s, &st, e, "SELECT " COLUMNS " FROM stage WHERE plan_id = ? ORDER BY number", "i",
		    plan) < 0)
		return -1;
	while ((got = db_step(s, st, e)) > 0) {
		l.v = xrealloc(l.v, l.n + 1, sizeof(*l.v));
		fill(st, &l.v[l.n++]);
	}
	if (got < 0)
		return -1;
	*ret = l;
	l = (struct stage_row_list){ 0 };
	return 0;
}

int store_stage_by_name(struct store *s, int64_t plan, const char *name, struct stage_row *ret, struct err *e)
{
	auto_stmt st = NULL;
	int got;

	if (db_prepare(s, &st, e, "SELECT " COLUMNS " FROM stage WHERE plan_id = ? AND name = ?", "is", plan,
		    name) < 0)
		return -1;
	got = db_step(s, st, e);
	if (got > 0)
		fill(st, ret);
	return got < 0 ? -1 : got ? 0 : err_set(e, ERR_NOTFOUND, "the plan has no stage '%s'", name);
}

int store_stage_of_task(struct store *s, int64_t task, struct stage_row *ret, char **ret_plan, struct err *e)
{
	auto_stmt st = NULL;
	int got;

	if (db_prepare(s, &st, e,
		    "SELECT " COLUMNS ", plan.name FROM stage JOIN plan ON plan.id = plan_id"
		    " WHERE stage.task_id = ?1 OR stage.own_id = ?1",
		    "i", task) < 0)
		return -1;
	got = db_step(s, st, e);
	if (got <= 0)
		return got < 0 ? -1 : err_set(e, ERR_NOTFOUND, "it is not a stage of a plan");
	fill(st, ret);
	*ret_plan = db_text(st, 33);
	return 0;
}

void stage_task_list_release(struct stage_task_list *l)
{
	free(l->v);
	*l = (struct stage_task_list){ 0 };
}

int store_stage_tasks(struct store *s, struct stage_task_list *ret, struct err *e)
{
	auto_stage_task_list l = { 0 };
	auto_stmt st = NULL;
	int got;

	if (db_prepare(s, &st, e,
		    "SELECT stage.task_id, plan.task_id FROM stage JOIN plan ON plan.id = plan_id"
		    " JOIN task ON task.id = stage.task_id WHERE task.removed = 0"
		    " UNION ALL SELECT own_id, plan.task_id FROM stage JOIN plan ON plan.id = plan_id"
		    " JOIN task ON task.id = own_id WHERE task.removed = 0"
		    " UNION ALL SELECT plan.task_id, plan.task_id FROM plan"
		    " JOIN task ON task.id = plan.task_id WHERE NOT tickets AND task.removed = 0",
		    "") < 0)
		return -1;
	while ((got = db_step(s, st, e)) > 0) {
		l.v = xrealloc(l.v, l.n + 1, sizeof(*l.v));
		l.v[l.n++] = (struct stage_task){ sqlite3_column_int64(st, 0), sqlite3_column_int64(st, 1) };
	}
	if (got < 0)
		return -1;
	*ret = l;
	l = (struct stage_task_list){ 0 };
	return 0;
}

static int find_state(struct store *s, const struct stage_row *r, char **ret, struct err *e)
{
	auto_stmt st = NULL;
	int got;

	if (db_prepare(s, &st, e, "SELECT state FROM stage WHERE id = ? AND version = ?", "ii", r->id,
		    r->version) < 0)
		return -1;
	got = db_step(s, st, e);
	if (got > 0)
		*ret = db_text(st, 0);
	return got < 0 ? -1 : got ? 0 : err_set(e, ERR_BUSY, "stage '%s' was changed meanwhile", r->name);
}

static int write_stage(struct store *s, const struct stage_row *r, struct err *e)
{
	auto_str was = NULL;

	if (find_state(s, r, &was, e) < 0)
		return -1;
	if (db_run(s, e,
		    "UPDATE stage SET task = ?, task_id = ?, own_id = ?, state = ?, back = ?, note = ?, gate = ?, tip = ?, failed_tip = ?,"
		    " failure = ?, approved = ?, prompt = ?, merged = ?, hold = ?, satisfied = ?, starting = ?, slot = ?,"
		    " run = ?, attempt = ?, crashes = ?, failures = ?, conflicts = ?, waits = ?, queued = ?, until = ?, started = ?, ended = ?,"
		    " changed = ?, version = version + 1 WHERE id = ?",
		    "siissssssssssiiiiiiiiiiiiiiii", r->task, r->task_id, r->own_id, r->state, r->back,
		    r->note, r->gate, r->tip, r->failed_tip, r->failure, r->approved, r->prompt, r->merged,
		    (int64_t)r->hold, (int64_t)r->satisfied, (int64_t)r->starting, (int64_t)r->slot, r->run,
		    r->attempt, r->crashes, r->failures, r->conflicts, r->waits, r->queued, r->until,
		    r->started, r->ended, db_now(), r->id) < 0)
		return -1;
	return strcmp(was, r->state) ? store_plan_note(s, r->plan_id, r->id, r->state, r->note, e) : 0;
}

int store_stage_write(struct store *s, struct stage_row *r, struct err *e)
{
	if (store_begin(s, e) < 0)
		return -1;
	if (write_stage(s, r, e) < 0 || store_commit(s, e) < 0) {
		store_rollback(s);
		return -1;
	}
	r->version++;
	return 0;
}

static int insert_stage(struct store *s, int64_t plan, const struct stage_row *r, struct err *e)
{
	return db_run(s, e,
		"INSERT INTO stage (plan_id, number, name, task, state, changed) VALUES (?, ?, ?, ?, ?, ?)",
		"iisssi", plan, r->number, r->name, r->task, r->state, db_now());
}

/* Stages that are kept get numbers from 0 on; the others keep -1. */
static int write_stages(struct store *s, int64_t plan, const struct stage_row_list *l, struct err *e)
{
	if (db_run(s, e, "UPDATE stage SET number = -1 WHERE plan_id = ?", "i", plan) < 0)
		return -1;
	for (size_t i = 0; i < l->n; i++)
		if (l->v[i].id && (write_stage(s, &l->v[i], e) < 0 ||
					  db_run(s, e, "UPDATE stage SET number = ? WHERE id = ?", "ii",
						  l->v[i].number, l->v[i].id) < 0))
			return -1;
	if (db_run(s, e, "DELETE FROM stage WHERE plan_id = ? AND number = -1", "i", plan) < 0)
		return -1;
	for (size_t i = 0; i < l->n; i++)
		if (!l->v[i].id && insert_stage(s, plan, &l->v[i], e) < 0)
			return -1;
	return 0;
}

static int change_plan(struct store *s, const struct plan_row *p, const struct plan_change *c,
	const struct stage_row_list *stages, struct err *e)
{
	if (db_run(s, e,
		    "UPDATE plan SET frozen = ?, file = ?, digest = ?, state = ?, note = '', ended = 0, changed = ?"
		    " WHERE id = ? AND state = ?",
		    "ssssiis", c->frozen, c->file, c->digest, c->state, db_now(), p->id, p->state) < 0)
		return sqlite3_extended_errcode(s->db) == SQLITE_CONSTRAINT_UNIQUE
			       ? err_set(e, ERR_EXISTS, "another plan '%s' was begun since", p->name)
			       : -1;
	if (!sqlite3_changes(s->db))
		return err_set(e, ERR_BUSY, "plan '%s' is not %s any more", p->name, p->state);
	return write_stages(s, p->id, stages, e) < 0 ? -1
						     : store_plan_note(s, p->id, 0, "changed", c->file, e);
}

int store_plan_change(struct store *s, struct plan_row *p, const struct plan_change *change,
	const struct stage_row_list *stages, struct err *e)
{
	if (store_begin(s, e) < 0)
		return -1;
	if (change_plan(s, p, change, stages, e) < 0 || store_commit(s, e) < 0) {
		store_rollback(s);
		return -1;
	}
	free(p->state);
	p->state = xstrdup(change->state);
	p->ended = 0;
	return 0;
}

int store_stage_take_slot(struct store *s, struct stage_row *r, uint64_t max, bool *ret, struct err *e)
{
	*ret = r->slot;
	if (r->slot)
		return 0;
	/* one statement, so that two plans cannot take the last slot both */
	if (db_run(s, e,
		    "UPDATE stage SET slot = 1, version = version + 1 WHERE id = ? AND version = ? AND"
		    " (SELECT count(*) FROM stage AS other JOIN plan ON plan.id = other.plan_id"
		    " WHERE plan.ended = 0 AND other.slot) < ?",
		    "iii", r->id, r->version, (int64_t)max) < 0)
		return -1;
	if (!sqlite3_changes(s->db))
		return 0;
	*ret = r->slot = true;
	r->version++;
	return 0;
}
