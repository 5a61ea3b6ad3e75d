#include "base/alloc.h"
#include "store/db.h"

/* An agent can ask for any number of names: further ones are not recorded. */
#define ASKED_MAX 500

int store_asked_add(struct store *s, int64_t task, const struct asked *a, struct err *e)
{
	return db_run(s, e,
		"INSERT INTO asked (task_id, host, port, open, times, last, why, address) SELECT ?1, ?2, ?3, ?4, 1, ?5,"
		" ?7, ?8 WHERE (SELECT count(*) FROM asked WHERE task_id = ?1) < ?6"
		" OR EXISTS (SELECT 1 FROM asked WHERE task_id = ?1 AND host = ?2 AND port = ?3 AND open = ?4)"
		" ON CONFLICT (task_id, host, port, open) DO UPDATE SET times = times + 1, last = excluded.last,"
		" why = excluded.why, address = excluded.address",
		"isiiiiis", task, a->host, (int64_t)a->port, (int64_t)a->open, db_now(), (int64_t)ASKED_MAX,
		(int64_t)a->why, a->address ? a->address : "");
}

void asked_list_release(struct asked_list *l)
{
	for (size_t i = 0; i < l->n; i++) {
		free(l->v[i].host);
		free(l->v[i].address);
	}
	free(l->v);
	*l = (struct asked_list){ 0 };
}

int store_asked_list(struct store *s, int64_t task, struct asked_list *ret, struct err *e)
{
	auto_stmt st = NULL;
	int got;

	*ret = (struct asked_list){ 0 };
	if (db_prepare(s, &st, e,
		    "SELECT host, port, open, times, last, why, address FROM asked WHERE task_id = ? ORDER BY open, times DESC, host",
		    "i", task) < 0)
		return -1;
	while ((got = db_step(s, st, e)) > 0) {
		if (!(ret->n & (ret->n - 1)))
			ret->v = xrealloc(ret->v, ret->n ? ret->n * 2 : 1, sizeof(*ret->v));
		ret->v[ret->n++] = (struct asked){ .host = db_text(st, 0),
			.port = sqlite3_column_int(st, 1),
			.open = sqlite3_column_int(st, 2),
			.times = sqlite3_column_int64(st, 3),
			.last = sqlite3_column_int64(st, 4),
			.why = (enum asked_why)sqlite3_column_int(st, 5),
			.address = db_text(st, 6) };
	}
	if (got < 0)
		asked_list_release(ret);
	return got;
}
