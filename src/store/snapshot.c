#include "base/alloc.h"
#include "store/db.h"

#define COLUMNS "id, task_id, number, tip, state, reason, message, commits, created"

void snapshot_release(struct snapshot *s)
{
	free(s->commit);
	free(s->state);
	free(s->reason);
	free(s->message);
	*s = (struct snapshot){ 0 };
}

void snapshot_list_release(struct snapshot_list *l)
{
	for (size_t i = 0; i < l->n; i++)
		snapshot_release(&l->v[i]);
	free(l->v);
	*l = (struct snapshot_list){ 0 };
}

static void fill(sqlite3_stmt *st, struct snapshot *s)
{
	*s = (struct snapshot){ .id = sqlite3_column_int64(st, 0),
		.task_id = sqlite3_column_int64(st, 1),
		.number = sqlite3_column_int64(st, 2),
		.commit = db_text(st, 3),
		.state = db_text(st, 4),
		.reason = db_text(st, 5),
		.message = db_text(st, 6),
		.commits = sqlite3_column_int64(st, 7),
		.created = sqlite3_column_int64(st, 8) };
}

int store_snapshot_add(struct store *s, struct snapshot *snap, struct err *e)
{
	int64_t created = snap->created ? snap->created : db_now();
	auto_stmt st = NULL;

	if (db_prepare(s, &st, e,
		    "INSERT INTO snapshot (task_id, number, tip, state, reason, message, commits, created)"
		    " SELECT ?1, 1 + coalesce(max(number), 0), coalesce(?2, ''), coalesce(?3, ''), coalesce(?4, ''),"
		    " coalesce(?5, ''), ?6, ?7 FROM snapshot WHERE task_id = ?1 RETURNING id, number",
		    "issssii", snap->task_id, snap->commit, snap->state, snap->reason, snap->message,
		    snap->commits, created) < 0 ||
		db_step(s, st, e) < 0)
		return -1;
	snap->id = sqlite3_column_int64(st, 0);
	snap->number = sqlite3_column_int64(st, 1);
	snap->created = created;
	/* a statement with RETURNING commits in the step after its last row */
	return db_step(s, st, e) < 0 ? -1 : 0;
}

int store_snapshot(struct store *s, int64_t task, int64_t number, struct snapshot *ret, struct err *e)
{
	auto_stmt st = NULL;
	int got;

	if (db_prepare(s, &st, e, "SELECT " COLUMNS " FROM snapshot WHERE task_id = ? AND number = ?", "ii",
		    task, number) < 0)
		return -1;
	got = db_step(s, st, e);
	if (got < 0)
		return -1;
	if (!got)
		return err_set(e, ERR_NOTFOUND, "there is no snapshot %lld", (long long)number);
	fill(st, ret);
	return 0;
}

int store_snapshot_list(struct store *s, int64_t task, struct snapshot_list *ret, struct err *e)
{
	auto_snapshot_list l = { 0 };
	auto_stmt st = NULL;
	size_t cap = 0;
	int got;

	if (db_prepare(s, &st, e, "SELECT " COLUMNS " FROM snapshot WHERE task_id = ? ORDER BY number", "i",
		    task) < 0)
		return -1;
	while ((got = db_step(s, st, e)) > 0) {
		if (l.n == cap) {
			cap = cap ? cap * 2 : 8;
			l.v = xrealloc(l.v, cap, sizeof(*l.v));
		}
		fill(st, &l.v[l.n++]);
	}
	if (got < 0)
		return -1;
	*ret = l;
	l = (struct snapshot_list){ 0 };
	return 0;
}
