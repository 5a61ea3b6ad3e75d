#include "base/alloc.h"
#include "store/db.h"

int store_submodule(struct store *s, int64_t task, const char *path, struct submodule_row *ret, struct err *e)
{
	auto_stmt st = NULL;
	int got;

	*ret = (struct submodule_row){ 0 };
	if (db_prepare(s, &st, e,
		    "SELECT published, commits, bytes FROM submodule WHERE task_id = ? AND path = ?", "is",
		    task, path) < 0)
		return -1;
	got = db_step(s, st, e);
	if (got <= 0)
		return got;
	auto_str published = db_text(st, 0);

	snprintf(ret->published, sizeof(ret->published), "%s", published);
	ret->commits = sqlite3_column_int64(st, 1);
	ret->bytes = sqlite3_column_int64(st, 2);
	return 0;
}

int store_submodule_has(struct store *s, int64_t task, const char *published, bool *ret, struct err *e)
{
	auto_stmt st = NULL;
	int got;

	if (db_prepare(s, &st, e, "SELECT 1 FROM submodule WHERE task_id = ? AND published = ?", "is", task,
		    published) < 0)
		return -1;
	got = db_step(s, st, e);
	*ret = got > 0;
	return got < 0 ? -1 : 0;
}

int store_submodule_set(
	struct store *s, int64_t task, const char *path, const struct submodule_row *row, struct err *e)
{
	return db_run(s, e,
		"INSERT OR REPLACE INTO submodule (task_id, path, published, commits, bytes) VALUES (?, ?, ?, ?, ?)",
		"issii", task, path, row->published, row->commits, row->bytes);
}

int store_submodule_sum(struct store *s, int64_t task, int64_t *commits, int64_t *bytes, struct err *e)
{
	auto_stmt st = NULL;

	if (db_prepare(s, &st, e, "SELECT total(commits), total(bytes) FROM submodule WHERE task_id = ?", "i",
		    task) < 0 ||
		db_step(s, st, e) < 0)
		return -1;
	*commits = sqlite3_column_int64(st, 0);
	*bytes = sqlite3_column_int64(st, 1);
	return 0;
}

int store_snapshot_submodule(
	struct store *s, int64_t task, int64_t number, const char *path, char tip[OID_SIZE], struct err *e)
{
	auto_stmt st = NULL;
	int got;

	tip[0] = '\0';
	if (db_prepare(s, &st, e,
		    "SELECT tip FROM snapshot_submodule WHERE task_id = ? AND number = ? AND path = ?", "iis",
		    task, number, path) < 0)
		return -1;
	got = db_step(s, st, e);
	if (got <= 0)
		return got;
	auto_str text = db_text(st, 0);

	snprintf(tip, OID_SIZE, "%s", text);
	return 0;
}

int store_snapshot_submodule_add(
	struct store *s, int64_t task, int64_t number, const char *path, const char *tip, struct err *e)
{
	return db_run(s, e,
		"INSERT OR REPLACE INTO snapshot_submodule (task_id, number, path, tip) VALUES (?, ?, ?, ?)",
		"iiss", task, number, path, tip);
}
