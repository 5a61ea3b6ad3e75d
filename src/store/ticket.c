#include "store/ticket.h"

#include "base/alloc.h"
#include "store/db.h"

int store_tickets_make(struct store *s, const struct task *t, struct plan_row *ret, struct err *e)
{
	/* no plan has such a name */
	auto_str name = xasprintf("tickets/%lld", (long long)t->id);

	if (!store_tickets_of(s, t->id, ret, e))
		return 0;
	if (e->kind != ERR_NOTFOUND)
		return -1;
	*e = (struct err)ERR_INIT;
	if (db_run(s, e,
		    "INSERT INTO plan (project_id, task_id, name, file, digest, target, state, frozen, created, changed,"
		    " tickets) VALUES (?, ?, ?, '', '', ?, 'running', '', ?, ?, 1)",
		    "iissii", t->project_id, t->id, name, t->branch, db_now(), db_now()) < 0)
		return -1;
	return store_tickets_of(s, t->id, ret, e);
}

int store_ticket_add(struct store *s, const struct plan_row *set, const struct stage_row *r,
	const char *asked, struct err *e)
{
	return db_run(s, e,
		"INSERT INTO stage (plan_id, number, name, task, state, changed, asked) VALUES (?, ?, ?, ?, ?, ?, ?)",
		"iisssis", set->id, r->number, r->name, r->task, r->state, db_now(), asked);
}

int store_tickets_asked(struct store *s, int64_t set, struct strvec *ret, struct err *e)
{
	auto_stmt st = NULL;
	int got;

	if (db_prepare(s, &st, e, "SELECT asked FROM stage WHERE plan_id = ? ORDER BY number", "i", set) < 0)
		return -1;
	while ((got = db_step(s, st, e)) > 0) {
		auto_str text = db_text(st, 0);

		strvec_push(ret, text);
	}
	return got < 0 ? -1 : 0;
}

int store_tickets_set_waits(struct store *s, int64_t set, int64_t run, struct err *e)
{
	return db_run(s, e, "UPDATE plan SET waits = ? WHERE id = ?", "ii", run, set);
}

int store_ticket_shown(struct store *s, int64_t ticket, char **ret, struct err *e)
{
	auto_stmt st = NULL;
	int got;

	if (db_prepare(s, &st, e, "SELECT shown FROM stage WHERE id = ?", "i", ticket) < 0)
		return -1;
	got = db_step(s, st, e);
	if (got > 0)
		*ret = db_text(st, 0);
	return got < 0 ? -1 : got ? 0 : err_set(e, ERR_NOTFOUND, "there is no such ticket");
}

int store_ticket_set_shown(struct store *s, int64_t ticket, const char *commit, struct err *e)
{
	return db_run(s, e, "UPDATE stage SET shown = ? WHERE id = ?", "si", commit, ticket);
}

int store_ticket_withdrawn(struct store *s, int64_t ticket, bool *ret, struct err *e)
{
	auto_stmt st = NULL;
	int got;

	if (db_prepare(s, &st, e, "SELECT withdrawn FROM stage WHERE id = ?", "i", ticket) < 0)
		return -1;
	got = db_step(s, st, e);
	if (got > 0)
		*ret = sqlite3_column_int(st, 0);
	return got < 0 ? -1 : got ? 0 : err_set(e, ERR_NOTFOUND, "there is no such ticket");
}

int store_ticket_set_withdrawn(struct store *s, int64_t ticket, bool withdrawn, struct err *e)
{
	return db_run(s, e, "UPDATE stage SET withdrawn = ? WHERE id = ?", "ii", (int64_t)withdrawn, ticket);
}

int store_ticket_parent(struct store *s, int64_t task, int64_t *ret, struct err *e)
{
	auto_stmt st = NULL;
	int got;

	*ret = 0;
	if (db_prepare(s, &st, e,
		    "SELECT plan.task_id FROM stage JOIN plan ON plan.id = plan_id"
		    " WHERE stage.task_id = ? AND tickets",
		    "i", task) < 0)
		return -1;
	got = db_step(s, st, e);
	if (got > 0)
		*ret = sqlite3_column_int64(st, 0);
	return got < 0 ? -1 : 0;
}

static int move(
	struct store *s, const struct stage_row *r, const char *state, const char *merged, struct err *e)
{
	if (db_run(s, e,
		    "UPDATE stage SET state = ?, merged = ?, slot = 0, ended = ?, changed = ?, version = version + 1"
		    " WHERE id = ? AND version = ?",
		    "ssiiii", state, merged, db_now(), db_now(), r->id, r->version) < 0)
		return -1;
	return sqlite3_changes(s->db) ? store_plan_note(s, r->plan_id, r->id, state, "", e) : 0;
}

int store_ticket_over(
	struct store *s, const struct stage_row *r, const char *state, const char *merged, struct err *e)
{
	if (store_begin(s, e) < 0)
		return -1;
	if (!move(s, r, state, merged, e) && !store_commit(s, e))
		return 0;
	store_rollback(s);
	return -1;
}
