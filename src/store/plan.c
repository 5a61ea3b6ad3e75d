#include "store/plan.h"

#include "base/alloc.h"
#include "store/db.h"
#include "store/ticket.h"

/* The row of tickets has the name of the task that they are of. */
#define NAME "CASE WHEN tickets THEN (SELECT name FROM task WHERE task.id = plan.task_id) ELSE plan.name END"
/* fill() reads them in this order. */
#define COLUMNS                                                                                              \
	"plan.id, plan.project_id, plan.task_id, project.name, " NAME ", file, digest, target, state, note," \
	" merged, plan.created, changed, ended, tickets, waits"
#define FROM " FROM plan JOIN project ON project.id = plan.project_id"

void plan_row_release(struct plan_row *p)
{
	char *texts[] = { p->project, p->name, p->file, p->digest, p->target, p->state, p->note, p->merged };

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		free(texts[i]);
	*p = (struct plan_row){ 0 };
}

void plan_row_list_release(struct plan_row_list *l)
{
	for (size_t i = 0; i < l->n; i++)
		plan_row_release(&l->v[i]);
	free(l->v);
	*l = (struct plan_row_list){ 0 };
}

static void fill(sqlite3_stmt *st, struct plan_row *p)
{
	char **texts[] = { &p->project, &p->name, &p->file, &p->digest, &p->target, &p->state, &p->note,
		&p->merged };
	int c = 3;

	*p = (struct plan_row){ .id = sqlite3_column_int64(st, 0),
		.project_id = sqlite3_column_int64(st, 1),
		.task_id = sqlite3_column_int64(st, 2) };
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		*texts[i] = db_text(st, c++);
	p->created = sqlite3_column_int64(st, c++);
	p->changed = sqlite3_column_int64(st, c++);
	p->ended = sqlite3_column_int64(st, c++);
	p->tickets = sqlite3_column_int(st, c++);
	p->waits = sqlite3_column_int64(st, c);
}

static int add_stage(struct store *s, int64_t plan, const struct stage_row *r, struct err *e)
{
	return db_run(s, e,
		"INSERT INTO stage (plan_id, number, name, task, state, changed) VALUES (?, ?, ?, ?, ?, ?)",
		"iisssi", plan, r->number, r->name, r->task, r->state, db_now());
}

static int insert(struct store *s, struct plan_row *p, const char *frozen, const struct stage_row *stages,
	size_t n, struct err *e)
{
	if (db_run(s, e,
		    "INSERT INTO plan (project_id, name, file, digest, target, state, frozen, created, changed)"
		    " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
		    "issssssii", p->project_id, p->name, p->file, p->digest, p->target, p->state, frozen,
		    db_now(), db_now()) < 0) {
		if (sqlite3_extended_errcode(s->db) == SQLITE_CONSTRAINT_UNIQUE)
			err_set(e, ERR_EXISTS, "there is a plan '%s' already", p->name);
		return -1;
	}
	p->id = sqlite3_last_insert_rowid(s->db);
	for (size_t i = 0; i < n; i++)
		if (add_stage(s, p->id, &stages[i], e) < 0)
			return -1;
	return 0;
}

int store_plan_add(struct store *s, struct plan_row *p, const char *frozen, const struct stage_row *stages,
	size_t n, struct err *e)
{
	if (store_begin(s, e) < 0)
		return -1;
	if (!insert(s, p, frozen, stages, n, e) && !store_commit(s, e))
		return 0;
	store_rollback(s);
	return -1;
}

int store_plan_frozen(struct store *s, int64_t id, char **ret, struct err *e)
{
	auto_stmt st = NULL;
	int got;

	if (db_prepare(s, &st, e, "SELECT frozen FROM plan WHERE id = ?", "i", id) < 0)
		return -1;
	got = db_step(s, st, e);
	if (got > 0)
		*ret = db_text(st, 0);
	return got < 0 ? -1 : got ? 0 : err_set(e, ERR_NOTFOUND, "there is no such plan");
}

static int one(struct store *s, sqlite3_stmt *st, struct plan_row *ret, struct err *e)
{
	int got = db_step(s, st, e);

	if (got > 0)
		fill(st, ret);
	return got < 0 ? -1 : got ? 0 : err_set(e, ERR_NOTFOUND, "there is no such plan");
}

int store_plan_by_name(
	struct store *s, int64_t project, const char *name, struct plan_row *ret, struct err *e)
{
	auto_stmt st = NULL;

	if (db_prepare(s, &st, e,
		    "SELECT " COLUMNS FROM " WHERE plan.name = ?1 AND (?2 = 0 OR plan.project_id = ?2)"
		    " ORDER BY plan.id DESC LIMIT 1",
		    "si", name, project) < 0)
		return -1;
	if (!one(s, st, ret, e))
		return 0;
	return e->kind == ERR_NOTFOUND ? err_set(e, ERR_NOTFOUND, "there is no plan '%s'", name) : -1;
}

int store_tickets_of(struct store *s, int64_t task, struct plan_row *ret, struct err *e)
{
	auto_stmt st = NULL;

	return db_prepare(s, &st, e,
		       "SELECT " COLUMNS FROM " WHERE plan.task_id = ? AND tickets AND ended = 0", "i",
		       task) < 0
		       ? -1
		       : one(s, st, ret, e);
}

int store_plan_by_id(struct store *s, int64_t id, struct plan_row *ret, struct err *e)
{
	auto_stmt st = NULL;

	return db_prepare(s, &st, e, "SELECT " COLUMNS FROM " WHERE plan.id = ?", "i", id) < 0
		       ? -1
		       : one(s, st, ret, e);
}

int store_plan_of_task(struct store *s, int64_t task, char **ret, struct err *e)
{
	auto_stmt st = NULL;
	int got;

	*ret = NULL;
	if (db_prepare(s, &st, e,
		    "SELECT name FROM plan WHERE NOT tickets AND ended = 0 AND (task_id = ?1 OR EXISTS"
		    " (SELECT 1 FROM stage WHERE plan_id = plan.id AND (stage.task_id = ?1 OR stage.own_id = ?1)))",
		    "i", task) < 0)
		return -1;
	got = db_step(s, st, e);
	if (got > 0)
		*ret = db_text(st, 0);
	return got < 0 ? -1 : 0;
}

int store_plan_by_task(struct store *s, int64_t task, char **ret, struct err *e)
{
	auto_stmt st = NULL;
	int got;

	*ret = NULL;
	if (db_prepare(s, &st, e,
		    "SELECT name FROM plan WHERE task_id = ? AND NOT tickets ORDER BY id DESC LIMIT 1", "i",
		    task) < 0)
		return -1;
	got = db_step(s, st, e);
	if (got > 0)
		*ret = db_text(st, 0);
	return got < 0 ? -1 : 0;
}

int store_plan_own(struct store *s, int64_t task, struct plan_row *ret, struct err *e)
{
	auto_stmt st = NULL;

	return db_prepare(s, &st, e,
		       "SELECT " COLUMNS FROM
		       " WHERE plan.task_id = ? AND NOT tickets ORDER BY plan.id DESC LIMIT 1",
		       "i", task) < 0
		       ? -1
		       : one(s, st, ret, e);
}

int store_plan_list(struct store *s, int64_t project, bool over, struct plan_row_list *ret, struct err *e)
{
	auto_plan_row_list l = { 0 };
	auto_stmt st = NULL;
	int got;

	if (db_prepare(s, &st, e,
		    "SELECT " COLUMNS FROM
		    " WHERE NOT tickets AND (?1 = 0 OR plan.project_id = ?1) AND (?2 OR ended = 0)"
		    " ORDER BY plan.id",
		    "ii", project, (int64_t)over) < 0)
		return -1;
	while ((got = db_step(s, st, e)) > 0) {
		l.v = xrealloc(l.v, l.n + 1, sizeof(*l.v));
		fill(st, &l.v[l.n++]);
	}
	if (got < 0)
		return -1;
	*ret = l;
	l = (struct plan_row_list){ 0 };
	return 0;
}

static int write_plan(struct store *s, struct plan_row *p, const char *from, struct err *e)
{
	if (db_run(s, e,
		    "UPDATE plan SET task_id = ?, target = ?, state = ?, note = ?, merged = ?, ended = ?, changed = ?"
		    " WHERE id = ? AND state = ?",
		    "issssiiis", p->task_id, p->target, p->state, p->note, p->merged, p->ended, db_now(),
		    p->id, from) < 0)
		return -1;
	if (!sqlite3_changes(s->db))
		return err_set(e, ERR_BUSY, "plan '%s' is not %s any more", p->name, from);
	return strcmp(p->state, from) ? store_plan_note(s, p->id, 0, p->state, p->note, e) : 0;
}

int store_plan_write(struct store *s, struct plan_row *p, const char *from, struct err *e)
{
	if (store_begin(s, e) < 0)
		return -1;
	if (!write_plan(s, p, from, e) && !store_commit(s, e))
		return 0;
	store_rollback(s);
	return -1;
}

void plan_event_list_release(struct plan_event_list *l)
{
	for (size_t i = 0; i < l->n; i++) {
		free(l->v[i].stage);
		free(l->v[i].what);
		free(l->v[i].text);
	}
	free(l->v);
	*l = (struct plan_event_list){ 0 };
}

int store_plan_note(
	struct store *s, int64_t plan, int64_t stage, const char *what, const char *text, struct err *e)
{
	return db_run(s, e,
		"INSERT INTO plan_event (plan_id, stage_id, at, what, text) VALUES (?, ?, ?, ?, ?)", "iiiss",
		plan, stage, db_now(), what, text);
}

int store_plan_events(
	struct store *s, int64_t plan, int64_t stage, struct plan_event_list *ret, struct err *e)
{
	auto_plan_event_list l = { 0 };
	auto_stmt st = NULL;
	int got;

	if (db_prepare(s, &st, e,
		    "SELECT at, stage.name, what, text FROM plan_event"
		    " LEFT JOIN stage ON stage.id = stage_id"
		    " WHERE plan_event.plan_id = ?1 AND (?2 = 0 OR stage_id = ?2) ORDER BY plan_event.id",
		    "ii", plan, stage) < 0)
		return -1;
	while ((got = db_step(s, st, e)) > 0) {
		l.v = xrealloc(l.v, l.n + 1, sizeof(*l.v));
		l.v[l.n++] = (struct plan_event){ sqlite3_column_int64(st, 0), db_text(st, 1), db_text(st, 2),
			db_text(st, 3) };
	}
	if (got < 0)
		return -1;
	*ret = l;
	l = (struct plan_event_list){ 0 };
	return 0;
}
