#include "base/alloc.h"
#include "store/db.h"

void flood_release(struct flood *f)
{
	free(f->event);
	free(f->details);
	*f = (struct flood){ 0 };
}

void flood_list_release(struct flood_list *l)
{
	for (size_t i = 0; i < l->n; i++)
		flood_release(&l->v[i]);
	free(l->v);
	*l = (struct flood_list){ 0 };
}

int store_flood(struct store *s, int64_t task, struct flood *f, struct err *e)
{
	auto_stmt st = NULL;
	int got;

	if (db_prepare(s, &st, e, "SELECT pending, lines, written FROM flood WHERE task_id = ? AND key = ?",
		    "is", task, f->key) < 0)
		return -1;
	got = db_step(s, st, e);
	if (got > 0) {
		f->pending = sqlite3_column_int64(st, 0);
		f->lines = sqlite3_column_int64(st, 1);
		f->written = sqlite3_column_int64(st, 2);
	}
	return got < 0 ? -1 : 0;
}

int store_flood_set(struct store *s, int64_t task, const struct flood *f, struct err *e)
{
	return db_run(s, e,
		"INSERT INTO flood (task_id, key, event, details, pending, lines, written)"
		" VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (task_id, key) DO UPDATE"
		" SET pending = excluded.pending, lines = excluded.lines, written = excluded.written",
		"isssiii", task, f->key, f->event, f->details, f->pending, f->lines, f->written);
}

int store_flood_pending(struct store *s, int64_t task, int64_t before, struct flood_list *ret, struct err *e)
{
	auto_stmt st = NULL;
	int got;

	*ret = (struct flood_list){ 0 };
	if (db_prepare(s, &st, e,
		    "SELECT key, event, details, pending, lines, written FROM flood"
		    " WHERE task_id = ? AND pending > 0 AND written <= ? ORDER BY rowid",
		    "ii", task, before) < 0)
		return -1;
	while ((got = db_step(s, st, e)) > 0) {
		auto_str key = db_text(st, 0);

		if (!(ret->n & (ret->n - 1)))
			ret->v = xrealloc(ret->v, ret->n ? ret->n * 2 : 1, sizeof(*ret->v));
		ret->v[ret->n] = (struct flood){ .event = db_text(st, 1),
			.details = db_text(st, 2),
			.pending = sqlite3_column_int64(st, 3),
			.lines = sqlite3_column_int64(st, 4),
			.written = sqlite3_column_int64(st, 5) };
		snprintf(ret->v[ret->n].key, sizeof(ret->v[ret->n].key), "%s", key);
		ret->n++;
	}
	if (got < 0)
		flood_list_release(ret);
	return got;
}

int store_flood_forget(struct store *s, int64_t task, int64_t before, struct err *e)
{
	return db_run(s, e, "DELETE FROM flood WHERE task_id = ? AND pending = 0 AND written <= ?", "ii",
		task, before);
}

int store_flood_budget(struct store *s, int64_t task, int64_t *bytes, int64_t *at, struct err *e)
{
	auto_stmt st = NULL;
	int got;

	if (db_prepare(s, &st, e, "SELECT bytes, at FROM flood_budget WHERE task_id = ?", "i", task) < 0)
		return -1;
	got = db_step(s, st, e);
	if (got > 0) {
		*bytes = sqlite3_column_int64(st, 0);
		*at = sqlite3_column_int64(st, 1);
	}
	return got < 0 ? -1 : 0;
}

int store_flood_set_budget(struct store *s, int64_t task, int64_t bytes, int64_t at, struct err *e)
{
	return db_run(s, e,
		"INSERT INTO flood_budget (task_id, bytes, at) VALUES (?, ?, ?)"
		" ON CONFLICT (task_id) DO UPDATE SET bytes = excluded.bytes, at = excluded.at",
		"iii", task, bytes, at);
}
