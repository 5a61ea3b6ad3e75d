#include "base/alloc.h"
#include "store/db.h"

void deed_release(struct deed *d)
{
	free(d->task);
	free(d->kind);
	free(d->data);
	*d = (struct deed){ 0 };
}

int store_deed_add(
	struct store *s, int64_t task, const char *kind, const char *data, int64_t *ret_id, struct err *e)
{
	if (db_run(s, e,
		    "INSERT INTO deed (task_id, task, kind, data, created) SELECT id, name, ?, ?, ? FROM task"
		    " WHERE id = ?",
		    "ssii", kind, data, db_now(), task) < 0)
		return -1;
	if (!sqlite3_changes(s->db))
		return err_set(e, ERR_NOTFOUND, "there is no task with the number %lld", (long long)task);
	if (ret_id)
		*ret_id = sqlite3_last_insert_rowid(s->db);
	return 0;
}

/* 1 where there is one. */
static int one(struct store *s, sqlite3_stmt *st, struct deed *ret, struct err *e)
{
	int got = db_step(s, st, e);

	if (got > 0)
		*ret = (struct deed){ .id = sqlite3_column_int64(st, 0),
			.task_id = sqlite3_column_int64(st, 1),
			.task = db_text(st, 2),
			.kind = db_text(st, 3),
			.data = db_text(st, 4),
			.created = sqlite3_column_int64(st, 5) };
	return got;
}

#define OPEN_DEEDS "SELECT id, task_id, task, kind, data, created FROM deed WHERE undone = 0 AND "

int store_deed_last(struct store *s, const char *task, int64_t project, struct deed *ret, struct err *e)
{
	auto_stmt st = NULL;
	int got;

	if (db_prepare(s, &st, e,
		    OPEN_DEEDS "(?1 IS NULL OR task = ?1) AND (?2 = 0 OR EXISTS (SELECT 1 FROM task"
			       " WHERE task.id = task_id AND project_id = ?2)) ORDER BY id DESC LIMIT 1",
		    "si", task, project) < 0)
		return -1;
	got = one(s, st, ret, e);
	if (got)
		return got < 0 ? -1 : 0;
	return task ? err_set(e, ERR_NOTFOUND, "there is nothing of task '%s' to take back", task)
		    : err_set(e, ERR_NOTFOUND, "there is nothing to take back");
}

int store_deed_of(struct store *s, int64_t task, const char *kind, struct deed *ret, struct err *e)
{
	auto_stmt st = NULL;
	int got;

	if (db_prepare(s, &st, e, OPEN_DEEDS "task_id = ? AND kind = ? ORDER BY id DESC LIMIT 1", "is", task,
		    kind) < 0)
		return -1;
	got = one(s, st, ret, e);
	if (got)
		return got < 0 ? -1 : 0;
	return err_set(e, ERR_NOTFOUND, "there is no %s of that task to take back", kind);
}

int store_deed_undone(struct store *s, int64_t id, struct err *e)
{
	if (db_run(s, e, "UPDATE deed SET undone = ? WHERE id = ? AND undone = 0", "ii", db_now(), id) < 0)
		return -1;
	if (!sqlite3_changes(s->db))
		return err_set(e, ERR_NOTFOUND, "it was taken back already");
	return 0;
}
