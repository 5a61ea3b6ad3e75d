#include "base/alloc.h"
#include "store/db.h"

void approved_list_release(struct approved_list *l)
{
	for (size_t i = 0; i < l->n; i++) {
		free(l->v[i].digest);
		free(l->v[i].what);
	}
	free(l->v);
	*l = (struct approved_list){ 0 };
}

int store_approve(struct store *s, int64_t project, const char *digest, const char *what, struct err *e)
{
	return db_run(s, e,
		"INSERT OR IGNORE INTO approved (project_id, digest, what, created) VALUES (?, ?, ?, ?)",
		"issi", project, digest, what, db_now());
}

int store_is_approved(struct store *s, int64_t project, const char *digest, bool *ret, struct err *e)
{
	auto_stmt st = NULL;
	int got;

	if (db_prepare(s, &st, e, "SELECT 1 FROM approved WHERE project_id = ? AND digest = ?", "is", project,
		    digest) < 0)
		return -1;
	got = db_step(s, st, e);
	if (got < 0)
		return -1;
	*ret = got > 0;
	return 0;
}

int store_approved_list(struct store *s, int64_t project, struct approved_list *ret, struct err *e)
{
	auto_approved_list l = { 0 };
	auto_stmt st = NULL;
	int got;

	if (db_prepare(s, &st, e,
		    "SELECT digest, what, created FROM approved WHERE project_id = ? ORDER BY rowid", "i",
		    project) < 0)
		return -1;
	while ((got = db_step(s, st, e)) > 0) {
		l.v = xrealloc(l.v, l.n + 1, sizeof(*l.v));
		l.v[l.n++] = (struct approved){ db_text(st, 0), db_text(st, 1), sqlite3_column_int64(st, 2) };
	}
	if (got < 0)
		return -1;
	*ret = l;
	l = (struct approved_list){ 0 };
	return 0;
}

int store_unapprove(struct store *s, int64_t project, struct err *e)
{
	return db_run(s, e, "DELETE FROM approved WHERE project_id = ?", "i", project);
}
