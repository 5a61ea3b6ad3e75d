#include "base/alloc.h"
#include "store/db.h"

#define ANSWERS_KEPT 50
#define COLUMNS      "a.id, a.task_id, a.theirs, a.agent, a.cwd, a.title, a.updated"

void acp_session_release(struct acp_session *a)
{
	free(a->theirs);
	free(a->agent);
	free(a->cwd);
	free(a->title);
	*a = (struct acp_session){ 0 };
}

void acp_session_list_release(struct acp_session_list *l)
{
	for (size_t i = 0; i < l->n; i++)
		acp_session_release(&l->v[i]);
	free(l->v);
	*l = (struct acp_session_list){ 0 };
}

int store_acp_session_add(struct store *s, const struct acp_session *a, struct err *e)
{
	if (db_run(s, e,
		    "INSERT INTO acp_session (id, task_id, theirs, agent, cwd, title, updated)"
		    " SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7"
		    " WHERE (SELECT count(*) FROM acp_session WHERE task_id = ?2) < ?8",
		    "sissssii", a->id, a->task, a->theirs, a->agent, a->cwd, a->title ? a->title : "",
		    db_now(), (int64_t)ACP_SESSIONS_MAX) < 0)
		return -1;
	return sqlite3_changes(s->db)
		       ? 0
		       : err_set(e, ERR_REFUSED, "the task has had %d sessions already", ACP_SESSIONS_MAX);
}

static struct acp_session row(sqlite3_stmt *st)
{
	auto_str id = db_text(st, 0);
	struct acp_session a = { .task = sqlite3_column_int64(st, 1),
		.theirs = db_text(st, 2),
		.agent = db_text(st, 3),
		.cwd = db_text(st, 4),
		.title = db_text(st, 5),
		.updated = sqlite3_column_int64(st, 6) };

	snprintf(a.id, sizeof(a.id), "%s", id);
	return a;
}

int store_acp_session(struct store *s, const char *id, struct acp_session *ret, struct err *e)
{
	auto_stmt st = NULL;
	int got;

	*ret = (struct acp_session){ 0 };
	if (db_prepare(s, &st, e, "SELECT " COLUMNS " FROM acp_session a WHERE a.id = ?", "s", id) < 0)
		return -1;
	got = db_step(s, st, e);
	if (!got)
		return err_set(e, ERR_NOTFOUND, "there is no session '%.100s'", id);
	if (got > 0)
		*ret = row(st);
	return got < 0 ? -1 : 0;
}

int store_acp_session_used(struct store *s, const char *id, const char *title, struct err *e)
{
	return db_run(s, e, "UPDATE acp_session SET updated = ?, title = coalesce(?, title) WHERE id = ?",
		"iss", db_now(), title, id);
}

int store_acp_session_list(
	struct store *s, const char *agent, const char *cwd, struct acp_session_list *ret, struct err *e)
{
	auto_stmt st = NULL;
	int got;

	*ret = (struct acp_session_list){ 0 };
	if (db_prepare(s, &st, e,
		    "SELECT " COLUMNS " FROM acp_session a JOIN task t ON t.id = a.task_id"
		    " WHERE t.removed = 0 AND a.agent = ?1 AND (?2 IS NULL OR a.cwd = ?2)"
		    " ORDER BY a.updated DESC, a.rowid DESC LIMIT ?3",
		    "ssi", agent, cwd, (int64_t)ACP_SESSIONS_MAX) < 0)
		return -1;
	while ((got = db_step(s, st, e)) > 0) {
		if (!(ret->n & (ret->n - 1)))
			ret->v = xrealloc(ret->v, ret->n ? ret->n * 2 : 1, sizeof(*ret->v));
		ret->v[ret->n++] = row(st);
	}
	if (got < 0)
		acp_session_list_release(ret);
	return got;
}

int store_acp_answer(struct store *s, const char *key, char **ret, struct err *e)
{
	auto_stmt st = NULL;
	int got;

	if (db_prepare(s, &st, e, "SELECT answer FROM acp_answer WHERE key = ?", "s", key) < 0)
		return -1;
	got = db_step(s, st, e);
	if (got < 0)
		return -1;
	*ret = got ? db_text(st, 0) : xstrdup("");
	return 0;
}

int store_acp_answer_set(struct store *s, const char *key, const char *answer, struct err *e)
{
	if (db_run(s, e, "INSERT OR REPLACE INTO acp_answer (key, answer, updated) VALUES (?, ?, ?)", "ssi",
		    key, answer, db_now()) < 0)
		return -1;
	return db_run(s, e,
		"DELETE FROM acp_answer WHERE key NOT IN"
		" (SELECT key FROM acp_answer ORDER BY updated DESC, rowid DESC LIMIT ?)",
		"i", (int64_t)ANSWERS_KEPT);
}
