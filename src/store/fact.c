#include "base/alloc.h"
#include "store/db.h"

/* Beyond this many the oldest answers are deleted; git can compute them again. */
#define COMPARED_MAX 20000

int store_fact(struct store *s, const char *key, char **ret, struct err *e)
{
	auto_stmt st = NULL;
	int got;

	if (db_prepare(s, &st, e, "SELECT value FROM fact WHERE key = ?", "s", key) < 0)
		return -1;
	got = db_step(s, st, e);
	if (got < 0)
		return -1;
	if (!got)
		return err_set(e, ERR_NOTFOUND, "nothing is known of '%s'", key);
	*ret = db_text(st, 0);
	return 0;
}

int store_set_fact(struct store *s, const char *key, const char *value, struct err *e)
{
	return db_run(s, e,
		"INSERT INTO fact (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value",
		"ss", key, value);
}

int store_compared(struct store *s, const char *kind, const char *a, const char *b, char **ret, struct err *e)
{
	auto_stmt st = NULL;
	int got;

	if (db_prepare(s, &st, e, "SELECT result FROM compared WHERE kind = ? AND a = ? AND b = ?", "sss",
		    kind, a, b) < 0)
		return -1;
	got = db_step(s, st, e);
	if (got < 0)
		return -1;
	if (!got)
		return err_set(e, ERR_NOTFOUND, "%s and %s were not compared yet", a, b);
	*ret = db_text(st, 0);
	return 0;
}

int store_set_compared(
	struct store *s, const char *kind, const char *a, const char *b, const char *result, struct err *e)
{
	if (db_run(s, e, "INSERT OR REPLACE INTO compared (kind, a, b, result) VALUES (?, ?, ?, ?)", "ssss",
		    kind, a, b, result) < 0)
		return -1;
	return db_run(s, e, "DELETE FROM compared WHERE id <= ?", "i",
		(int64_t)sqlite3_last_insert_rowid(s->db) - COMPARED_MAX);
}
