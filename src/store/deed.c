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
	int64_t id;

	if (db_run(s, e,
		    "INSERT INTO deed (task_id, task, kind, data, created, batch)"
		    " SELECT id, name, ?, ?, ?, ? FROM task WHERE id = ?",
		    "ssiii", kind, data, db_now(), s->batch, task) < 0)
		return -1;
	if (!sqlite3_changes(s->db))
		return err_set(e, ERR_NOTFOUND, "there is no task with the number %lld", (long long)task);
	id = sqlite3_last_insert_rowid(s->db);
	if (s->in_batch && !s->batch) {
		if (db_run(s, e, "UPDATE deed SET batch = id WHERE id = ?", "i", id) < 0)
			return -1;
		s->batch = id;
	}
	if (ret_id)
		*ret_id = id;
	return 0;
}

void store_batch_begin(struct store *s)
{
	s->in_batch = true;
	s->batch = 0;
}

int store_batch_join(struct store *s, int64_t deed, struct err *e)
{
	if (db_run(s, e, "UPDATE deed SET batch = id WHERE id = ? AND batch = 0", "i", deed) < 0)
		return -1;
	s->in_batch = true;
	s->batch = deed;
	return 0;
}

void store_batch_end(struct store *s)
{
	s->in_batch = false;
	s->batch = 0;
}

/* Returns 1 if there is a row. */
static int one(struct store *s, sqlite3_stmt *st, struct deed *ret, struct err *e)
{
	int got = db_step(s, st, e);

	if (got > 0)
		*ret = (struct deed){ .id = sqlite3_column_int64(st, 0),
			.task_id = sqlite3_column_int64(st, 1),
			.task = db_text(st, 2),
			.kind = db_text(st, 3),
			.data = db_text(st, 4),
			.created = sqlite3_column_int64(st, 5),
			.batch = sqlite3_column_int64(st, 6),
			.project_id = sqlite3_column_int64(st, 7) };
	return got;
}

#define OPEN_DEEDS                                                                                           \
	"SELECT deed.id, task_id, task.name, kind, data, deed.created, batch, project_id"                    \
	" FROM deed JOIN task ON task.id = task_id WHERE undone = 0 AND "
#define OF_TASK_AND_PROJECT                                                                                  \
	"(?1 IS NULL OR task.name = ?1) AND (?2 = 0 OR project_id = ?2) ORDER BY deed.id DESC"

void deed_list_release(struct deed_list *l)
{
	for (size_t i = 0; i < l->n; i++)
		deed_release(&l->v[i]);
	free(l->v);
	*l = (struct deed_list){ 0 };
}

int store_deed_list(
	struct store *s, const char *task, int64_t project, size_t max, struct deed_list *ret, struct err *e)
{
	auto_deed_list l = { 0 };
	auto_stmt st = NULL;
	int got = 1;

	if (db_prepare(s, &st, e, OPEN_DEEDS OF_TASK_AND_PROJECT " LIMIT ?3", "sii", task, project,
		    (int64_t)max) < 0)
		return -1;
	while (got > 0) {
		struct deed d = { 0 };

		got = one(s, st, &d, e);
		if (got <= 0)
			break;
		l.v = xrealloc(l.v, l.n + 1, sizeof(*l.v));
		l.v[l.n++] = d;
	}
	if (got < 0)
		return -1;
	*ret = l;
	l = (struct deed_list){ 0 };
	return 0;
}

int store_deed_last(struct store *s, const char *task, int64_t project, struct deed *ret, struct err *e)
{
	auto_stmt st = NULL;
	int got;

	if (db_prepare(s, &st, e, OPEN_DEEDS OF_TASK_AND_PROJECT " LIMIT 1", "si", task, project) < 0)
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

	if (db_prepare(s, &st, e, OPEN_DEEDS "task_id = ? AND kind = ? ORDER BY deed.id DESC LIMIT 1", "is",
		    task, kind) < 0)
		return -1;
	got = one(s, st, ret, e);
	if (got)
		return got < 0 ? -1 : 0;
	return err_set(e, ERR_NOTFOUND, "there is no %s of that task to take back", kind);
}

/* A plan whose merge is taken back is not merged any more. That is written first: the branch has moved already. */
int store_deed_undone(struct store *s, int64_t id, struct err *e)
{
	if (db_run(s, e,
		    "UPDATE plan SET merged = '', note = 'its merge was taken back' WHERE merged <> '' AND task_id ="
		    " (SELECT task_id FROM deed WHERE id = ? AND kind = 'merge')",
		    "i", id) < 0)
		return -1;
	if (db_run(s, e, "UPDATE deed SET undone = ? WHERE id = ? AND undone = 0", "ii", db_now(), id) < 0)
		return -1;
	if (!sqlite3_changes(s->db))
		return err_set(e, ERR_NOTFOUND, "it was taken back already");
	return 0;
}
