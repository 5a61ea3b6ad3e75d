#include "base/alloc.h"
#include "store/db.h"
#include "store/plan.h"

/* Beyond this many the oldest results are forgotten: then the check is run again. */
#define KNOWN_MAX 5000

#define COLUMNS "key, title, kind, passed, code, ms, why, output, at"

void check_row_release(struct check_row *r)
{
	free(r->key);
	free(r->title);
	free(r->kind);
	free(r->why);
	free(r->output);
	*r = (struct check_row){ 0 };
}

void check_row_list_release(struct check_row_list *l)
{
	for (size_t i = 0; i < l->n; i++)
		check_row_release(&l->v[i]);
	free(l->v);
	*l = (struct check_row_list){ 0 };
}

static void fill(sqlite3_stmt *st, struct check_row *r)
{
	*r = (struct check_row){ .key = db_text(st, 0),
		.title = db_text(st, 1),
		.kind = db_text(st, 2),
		.passed = sqlite3_column_int(st, 3),
		.code = sqlite3_column_int64(st, 4),
		.ms = sqlite3_column_int64(st, 5),
		.why = db_text(st, 6),
		.output = db_text(st, 7),
		.at = sqlite3_column_int64(st, 8) };
}

int store_check_known(struct store *s, const char *key, struct check_row *ret, struct err *e)
{
	auto_stmt st = NULL;
	int got;

	if (db_prepare(s, &st, e, "SELECT " COLUMNS " FROM check_known WHERE key = ?", "s", key) < 0)
		return -1;
	got = db_step(s, st, e);
	if (got > 0)
		fill(st, ret);
	return got < 0 ? -1 : got ? 0 : err_set(e, ERR_NOTFOUND, "it was not checked yet");
}

int store_check_set_known(struct store *s, const struct check_row *r, struct err *e)
{
	if (db_run(s, e,
		    "INSERT OR REPLACE INTO check_known (" COLUMNS ") VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
		    "sssiiissi", r->key, r->title, r->kind, (int64_t)r->passed, r->code, r->ms, r->why,
		    r->output, db_now()) < 0)
		return -1;
	return db_run(s, e, "DELETE FROM check_known WHERE id <= ?", "i",
		(int64_t)sqlite3_last_insert_rowid(s->db) - KNOWN_MAX);
}

int store_check_add(struct store *s, int64_t stage, const struct check_row *r, struct err *e)
{
	return db_run(s, e,
		"INSERT INTO stage_check (stage_id, attempt, cached, " COLUMNS
		") VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (stage_id, attempt, key) DO UPDATE"
		" SET cached = excluded.cached, passed = excluded.passed, code = excluded.code, ms = excluded.ms,"
		" why = excluded.why, output = excluded.output, at = excluded.at WHERE NOT excluded.cached",
		"iiisssiiissi", stage, r->attempt, (int64_t)r->cached, r->key, r->title, r->kind,
		(int64_t)r->passed, r->code, r->ms, r->why, r->output, db_now());
}

int store_check_seconds(struct store *s, int64_t stage, uint64_t *ret, struct err *e)
{
	auto_stmt st = NULL;

	if (db_prepare(s, &st, e, "SELECT sum(ms) / 1000 FROM stage_check WHERE stage_id = ? AND NOT cached",
		    "i", stage) < 0 ||
		db_step(s, st, e) < 0)
		return -1;
	*ret = (uint64_t)sqlite3_column_int64(st, 0);
	return 0;
}

int store_check_list(struct store *s, int64_t stage, struct check_row_list *ret, struct err *e)
{
	auto_check_row_list l = { 0 };
	auto_stmt st = NULL;
	int got;

	if (db_prepare(s, &st, e,
		    "SELECT " COLUMNS ", attempt, cached FROM stage_check WHERE stage_id = ? ORDER BY id",
		    "i", stage) < 0)
		return -1;
	while ((got = db_step(s, st, e)) > 0) {
		l.v = xrealloc(l.v, l.n + 1, sizeof(*l.v));
		fill(st, &l.v[l.n]);
		l.v[l.n].attempt = sqlite3_column_int64(st, 9);
		l.v[l.n++].cached = sqlite3_column_int(st, 10);
	}
	if (got < 0)
		return -1;
	*ret = l;
	l = (struct check_row_list){ 0 };
	return 0;
}
