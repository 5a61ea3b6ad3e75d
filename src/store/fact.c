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

/* The read lock is taken once and the statement is compiled once, so a thousand answers take a millisecond. */
int store_compared_many(struct store *s, const char *kind, struct compared_pair *v, size_t n, struct err *e)
{
	auto_stmt st = NULL;
	int rc = 0;

	if (!n)
		return 0;
	if (db_exec(s, "BEGIN", e) < 0)
		return -1;
	if (db_prepare(s, &st, e, "SELECT result FROM compared WHERE kind = ? AND a = ? AND b = ?", "s",
		    kind) < 0)
		rc = -1;
	for (size_t i = 0; !rc && i < n; i++) {
		int got;

		sqlite3_reset(st);
		sqlite3_bind_text(st, 2, v[i].a, -1, SQLITE_STATIC);
		sqlite3_bind_text(st, 3, v[i].b, -1, SQLITE_STATIC);
		got = db_step(s, st, e);
		if (got > 0)
			v[i].result = db_text(st, 0);
		rc = got < 0 ? -1 : 0;
	}
	stmt_finish(&st);
	st = NULL;
	store_rollback(s);
	return rc;
}

int store_set_compared_many(
	struct store *s, const char *kind, const struct compared_pair *v, size_t n, struct err *e)
{
	if (!n)
		return 0;
	if (store_begin(s, e) < 0)
		return -1;
	for (size_t i = 0; i < n; i++)
		if (v[i].result && store_set_compared(s, kind, v[i].a, v[i].b, v[i].result, e) < 0)
			return store_rollback(s), -1;
	if (store_commit(s, e) < 0)
		return store_rollback(s), -1;
	return 0;
}
