#include "store/db.h"

int store_run_begin(struct store *s, int64_t task, const char *session, const char *command, const char *argv,
	int64_t *ret_id, struct err *e)
{
	if (db_run(s, e,
		    "INSERT INTO run (task_id, session, command, argv, state, started)"
		    " VALUES (?, ?, ?, ?, 'running', ?)",
		    "isssi", task, session, command, argv, db_now()) < 0)
		return -1;
	*ret_id = sqlite3_last_insert_rowid(s->db);
	return 0;
}

int store_run_end(struct store *s, int64_t run, int exit_code, const char *state, const char *verdict,
	const char *leftover, struct err *e)
{
	return db_run(s, e,
		"UPDATE run SET state = ?, exit_code = ?, ended = ?, verdict = ?, leftover = ?"
		" WHERE id = ? AND ended = 0",
		"siissi", state, (int64_t)exit_code, db_now(), verdict, leftover, run);
}

#define LAST " WHERE id = (SELECT max(id) FROM run WHERE task_id = ?)"

int store_run_judged(struct store *s, int64_t task, const char *verdict, const char *leftover, struct err *e)
{
	return db_run(s, e, "UPDATE run SET verdict = ?, leftover = ?" LAST, "ssi", verdict, leftover, task);
}

int store_run_drafts(struct store *s, int64_t task, const char *elsewhere, const char *drafts, struct err *e)
{
	return db_run(s, e, "UPDATE run SET elsewhere = ?, drafts = ?" LAST, "ssi", elsewhere, drafts, task);
}

int store_run_last(struct store *s, int64_t task, int64_t *ret, struct err *e)
{
	auto_stmt st = NULL;

	if (db_prepare(s, &st, e, "SELECT max(id) FROM run WHERE task_id = ?", "i", task) < 0 ||
		db_step(s, st, e) < 0)
		return -1;
	*ret = sqlite3_column_int64(st, 0);
	return 0;
}

int store_run_seconds(struct store *s, int64_t task, uint64_t *ret, struct err *e)
{
	auto_stmt st = NULL;

	if (db_prepare(s, &st, e,
		    "SELECT sum(max(0, CASE WHEN ended THEN ended ELSE ? END - started)) FROM run"
		    " WHERE task_id = ? AND state <> 'interrupted'",
		    "ii", db_now(), task) < 0 ||
		db_step(s, st, e) < 0)
		return -1;
	*ret = (uint64_t)sqlite3_column_int64(st, 0);
	return 0;
}

int store_first_session(struct store *s, int64_t task, char **ret, struct err *e)
{
	auto_stmt st = NULL;

	if (db_prepare(s, &st, e, "SELECT session FROM run WHERE task_id = ? ORDER BY id LIMIT 1", "i",
		    task) < 0 ||
		db_step(s, st, e) < 0)
		return -1;
	*ret = db_text(st, 0);
	return 0;
}

int store_run_abandon(struct store *s, int64_t task, struct err *e)
{
	return db_run(s, e,
		"UPDATE run SET state = 'interrupted', exit_code = -1, ended = ? WHERE task_id = ? AND ended = 0",
		"ii", db_now(), task);
}
