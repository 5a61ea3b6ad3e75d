#include "base/alloc.h"
#include "base/strvec.h"
#include "store/db.h"

/* fill() reads them in this order. */
#define COLUMNS                                                                                                                        \
	"task.id, task.project_id, project.name, project.path, task.name, branch, base, layer, target,"                                \
	" backend, task.state, workspace, shown, published, note, on_dirty,"                                                           \
	" pushed_remote, pushed_branch, pushed_tip, place, ref_was, inside_was, seen, strict, layout, commits, bytes, disk, disk_max," \
	" task.created, changed, removed,"                                                                                             \
	" run.command, run.argv, run.session, run.started, run.ended, run.exit_code,"                                                  \
	" run.verdict, run.leftover, run.elsewhere, run.drafts"
#define FROM                                                                                                 \
	" FROM task JOIN project ON project.id = task.project_id"                                            \
	" LEFT JOIN run ON run.id = (SELECT max(id) FROM run WHERE task_id = task.id)"

void task_release(struct task *t)
{
	char **strings[] = { &t->project, &t->repository, &t->name, &t->branch, &t->base, &t->layer,
		&t->target, &t->backend, &t->state, &t->workspace, &t->shown, &t->published, &t->note,
		&t->on_dirty, &t->pushed_remote, &t->pushed_branch, &t->pushed_tip, &t->place, &t->ref_was,
		&t->inside_was, &t->seen, &t->command, &t->argv, &t->session, &t->verdict, &t->leftover,
		&t->elsewhere, &t->drafts };

	for (size_t i = 0; i < ARRAY_SIZE(strings); i++)
		free(*strings[i]);
	*t = (struct task){ 0 };
}

void task_list_release(struct task_list *l)
{
	for (size_t i = 0; i < l->n; i++)
		task_release(&l->v[i]);
	free(l->v);
	*l = (struct task_list){ 0 };
}

static void fill(sqlite3_stmt *st, struct task *t)
{
	char **strings[] = { &t->project, &t->repository, &t->name, &t->branch, &t->base, &t->layer,
		&t->target, &t->backend, &t->state, &t->workspace, &t->shown, &t->published, &t->note,
		&t->on_dirty, &t->pushed_remote, &t->pushed_branch, &t->pushed_tip, &t->place, &t->ref_was,
		&t->inside_was, &t->seen };
	int c = 2;

	*t = (struct task){ .id = sqlite3_column_int64(st, 0), .project_id = sqlite3_column_int64(st, 1) };
	for (size_t i = 0; i < ARRAY_SIZE(strings); i++)
		*strings[i] = db_text(st, c++);
	t->strict = sqlite3_column_int(st, c++);
	t->layout = sqlite3_column_int(st, c++);
	t->commits = sqlite3_column_int64(st, c++);
	t->bytes = sqlite3_column_int64(st, c++);
	t->disk = sqlite3_column_int64(st, c++);
	t->disk_max = sqlite3_column_int64(st, c++);
	t->created = sqlite3_column_int64(st, c++);
	t->changed = sqlite3_column_int64(st, c++);
	t->removed = sqlite3_column_int64(st, c++);
	t->command = db_text(st, c++);
	t->argv = db_text(st, c++);
	t->session = db_text(st, c++);
	t->started = sqlite3_column_int64(st, c++);
	t->ended = sqlite3_column_int64(st, c++);
	t->exit_code = sqlite3_column_int(st, c++);
	t->verdict = db_text(st, c++);
	t->leftover = db_text(st, c++);
	t->elsewhere = db_text(st, c++);
	t->drafts = db_text(st, c);
}

int store_task_insert(struct store *s, struct task *t, struct err *e)
{
	if (db_run(s, e,
		    "INSERT INTO task (project_id, name, branch, base, layer, target, backend, state, workspace, shown,"
		    " strict, layout, created, changed, on_dirty, place)"
		    " VALUES (?, ?, ?, ?, ?, ?, ?, 'creating', ?, ?, ?, ?, ?, ?, ?, ?)",
		    "issssssssiiiiss", t->project_id, t->name, t->branch, t->base, t->layer, t->target,
		    t->backend, t->workspace, t->shown, (int64_t)t->strict, (int64_t)t->layout, db_now(),
		    db_now(), t->on_dirty ? t->on_dirty : "fail", t->place ? t->place : "") < 0) {
		if (sqlite3_extended_errcode(s->db) == SQLITE_CONSTRAINT_UNIQUE)
			err_set(e, ERR_EXISTS, "there is a task '%s' already", t->name);
		return -1;
	}
	t->id = sqlite3_last_insert_rowid(s->db);
	return 0;
}

int store_task_update(struct store *s, const struct task *t, struct err *e)
{
	return db_run(s, e,
		"UPDATE task SET branch = ?, base = ?, layer = ?, target = ?, backend = ?, state = ?, workspace = ?,"
		" shown = ?, strict = ?, on_dirty = coalesce(?, on_dirty), changed = ? WHERE id = ?",
		"ssssssssisii", t->branch, t->base, t->layer, t->target, t->backend, t->state, t->workspace,
		t->shown, (int64_t)t->strict, t->on_dirty, db_now(), t->id);
}

int store_task_move(struct store *s, int64_t id, const char *from, const char *to, struct err *e)
{
	if (db_run(s, e, "UPDATE task SET state = ?, changed = ? WHERE id = ? AND state = ? AND removed = 0",
		    "siis", to, db_now(), id, from) < 0)
		return -1;
	if (!sqlite3_changes(s->db))
		return err_set(e, ERR_BUSY, "the task is not '%s' any more", from);
	return 0;
}

int store_task_remove(struct store *s, int64_t id, const char *state, struct err *e)
{
	return db_run(s, e,
		"UPDATE task SET state = ?, removed = ?, changed = ? WHERE id = ? AND removed = 0", "siii",
		state, db_now(), db_now(), id);
}

int store_task_forget(struct store *s, int64_t id, struct err *e)
{
	return db_run(s, e,
		"DELETE FROM task WHERE id = ? AND NOT EXISTS (SELECT 1 FROM run WHERE task_id = task.id)",
		"i", id);
}

static int one(struct store *s, sqlite3_stmt *st, struct task *ret, struct err *e)
{
	int got = db_step(s, st, e);

	if (got < 0)
		return -1;
	if (!got)
		return err_set(e, ERR_NOTFOUND, "there is no such task");
	fill(st, ret);
	return 0;
}

static int by_id(struct store *s, int64_t id, bool removed, struct task *ret, struct err *e)
{
	auto_stmt st = NULL;

	if (db_prepare(s, &st, e, "SELECT " COLUMNS FROM " WHERE task.id = ? AND (removed = 0 OR ?)", "ii",
		    id, (int64_t)removed) < 0)
		return -1;
	if (one(s, st, ret, e) == 0)
		return 0;
	if (e->kind == ERR_NOTFOUND)
		err_set(e, ERR_NOTFOUND, "there is no task with the number %lld", (long long)id);
	return -1;
}

int store_task_by_id(struct store *s, int64_t id, struct task *ret, struct err *e)
{
	return by_id(s, id, false, ret, e);
}

int store_task_any(struct store *s, int64_t id, struct task *ret, struct err *e)
{
	return by_id(s, id, true, ret, e);
}

int store_task_by_name(struct store *s, int64_t project, const char *name, struct task *ret, struct err *e)
{
	auto_stmt st = NULL;

	if (db_prepare(s, &st, e,
		    "SELECT " COLUMNS FROM " WHERE project_id = ? AND task.name = ? AND removed = 0", "is",
		    project, name) < 0)
		return -1;
	if (one(s, st, ret, e) == 0)
		return 0;
	if (e->kind == ERR_NOTFOUND)
		err_set(e, ERR_NOTFOUND, "there is no task '%s'", name);
	return -1;
}

int store_task_by_place(struct store *s, const char *place, struct task *ret, struct err *e)
{
	auto_stmt st = NULL;

	if (db_prepare(s, &st, e, "SELECT " COLUMNS FROM " WHERE place = ? AND removed = 0", "s", place) < 0)
		return -1;
	return one(s, st, ret, e);
}

/* Takes all rows of a statement. */
static int many(struct store *s, sqlite3_stmt *st, struct task_list *ret, struct err *e)
{
	auto_task_list l = { 0 };
	size_t cap = 0;
	int got;

	while ((got = db_step(s, st, e)) > 0) {
		if (l.n == cap) {
			cap = cap ? cap * 2 : 32;
			l.v = xrealloc(l.v, cap, sizeof(*l.v));
		}
		fill(st, &l.v[l.n++]);
	}
	if (got < 0)
		return -1;
	*ret = l;
	l = (struct task_list){ 0 };
	return 0;
}

int store_task_list(struct store *s, bool removed, struct task_list *ret, struct err *e)
{
	auto_stmt st = NULL;

	if (db_prepare(s, &st, e, "SELECT " COLUMNS FROM " WHERE removed = 0 OR ? ORDER BY task.id", "i",
		    (int64_t)removed) < 0)
		return -1;
	return many(s, st, ret, e);
}

int store_task_named(struct store *s, const char *name, bool removed, struct task_list *ret, struct err *e)
{
	auto_stmt st = NULL;

	if (db_prepare(s, &st, e,
		    "SELECT " COLUMNS FROM " WHERE task.name = ? AND (removed = 0 OR ?) ORDER BY task.id",
		    "si", name, (int64_t)removed) < 0)
		return -1;
	return many(s, st, ret, e);
}

/* A removed task of the same name and project cannot come back while the new one has the name. */
static int place_is_free(
	struct store *s, int64_t project, const char *name, const char *place, bool *ret, struct err *e)
{
	auto_stmt st = NULL;
	int got;

	if (db_prepare(s, &st, e,
		    "SELECT 1 FROM task WHERE place = ?1 AND (removed = 0 OR"
		    " ((project_id != ?2 OR name != ?3) AND EXISTS (SELECT 1 FROM deed WHERE task_id = task.id"
		    " AND kind IN ('discard', 'archive') AND undone = 0)))",
		    "sis", place, project, name) < 0)
		return -1;
	got = db_step(s, st, e);
	*ret = !got;
	return got < 0 ? -1 : 0;
}

int store_task_place(struct store *s, int64_t project, const char *name, char **ret, struct err *e)
{
	for (unsigned i = 0;; i++) {
		/* no task's name has an '@' */
		auto_str place = !i       ? xstrdup(name)
				 : i == 1 ? xasprintf("%s@%lld", name, (long long)project)
					  : xasprintf("%s@%lld.%u", name, (long long)project, i);
		bool is_free;

		if (place_is_free(s, project, name, place, &is_free, e) < 0)
			return -1;
		if (is_free)
			return *ret = steal_ptr(place), 0;
	}
}

/* For statements that must change exactly one task. */
static int changed_one(struct store *s, int rc, int64_t id, struct err *e)
{
	if (rc < 0)
		return -1;
	if (!sqlite3_changes(s->db))
		return err_set(e, ERR_NOTFOUND, "there is no task with the number %lld", (long long)id);
	return 0;
}

int store_task_published(
	struct store *s, int64_t id, const char *tip, int64_t commits, int64_t bytes, struct err *e)
{
	int rc = db_run(s, e,
		"UPDATE task SET state = CASE WHEN state = 'merged' AND published != ?1 THEN 'done' ELSE state END,"
		" published = ?1, commits = ?2, bytes = ?3, changed = ?4 WHERE id = ?5",
		"siiii", tip, commits, bytes, db_now(), id);

	return changed_one(s, rc, id, e);
}

int store_task_note(struct store *s, int64_t id, const char *note, struct err *e)
{
	int rc =
		db_run(s, e, "UPDATE task SET note = ?, changed = ? WHERE id = ?", "sii", note, db_now(), id);

	return changed_one(s, rc, id, e);
}

int store_task_seen(struct store *s, int64_t id, const char *seen, struct err *e)
{
	return db_run(s, e, "UPDATE task SET seen = ? WHERE id = ?", "si", seen, id);
}

int store_task_measured(struct store *s, int64_t id, int64_t disk, int64_t disk_max, struct err *e)
{
	return db_run(s, e, "UPDATE task SET disk = ?, disk_max = ? WHERE id = ?", "iii", disk, disk_max, id);
}

int store_task_rebased(struct store *s, int64_t id, const char *base, const char *shown, struct err *e)
{
	int rc = db_run(s, e, "UPDATE task SET base = ?, shown = ?, changed = ? WHERE id = ?", "ssii", base,
		shown, db_now(), id);

	return changed_one(s, rc, id, e);
}

int store_task_shown(struct store *s, int64_t id, const char *shown, struct err *e)
{
	return changed_one(s, db_run(s, e, "UPDATE task SET shown = ? WHERE id = ?", "si", shown, id), id, e);
}

int store_task_rename(
	struct store *s, int64_t id, const char *name, const char *branch, bool inside, struct err *e)
{
	int rc = db_run(s, e,
		"UPDATE task SET name = ?1, branch = ?2, ref_was = branch, changed = ?3, inside_was ="
		" CASE WHEN NOT ?4 OR inside_was = ?2 THEN '' WHEN inside_was = '' THEN branch ELSE inside_was END"
		" WHERE id = ?5",
		"ssiii", name, branch, db_now(), (int64_t)inside, id);

	if (rc < 0 && sqlite3_extended_errcode(s->db) == SQLITE_CONSTRAINT_UNIQUE)
		return err_set(e, ERR_EXISTS, "there is a task '%s' already", name);
	return changed_one(s, rc, id, e);
}

int store_task_renamed(struct store *s, int64_t id, bool inside, struct err *e)
{
	return db_run(s, e,
		inside ? "UPDATE task SET inside_was = '' WHERE id = ?"
		       : "UPDATE task SET ref_was = '' WHERE id = ?",
		"i", id);
}

int store_task_set_place(struct store *s, int64_t id, const char *place, const char *workspace, struct err *e)
{
	int rc = db_run(
		s, e, "UPDATE task SET place = ?, workspace = ? WHERE id = ?", "ssi", place, workspace, id);

	return changed_one(s, rc, id, e);
}

int store_task_restore(struct store *s, int64_t id, const char *state, struct err *e)
{
	int rc = db_run(s, e,
		"UPDATE task SET state = ?, removed = 0, changed = ? WHERE id = ? AND removed != 0", "sii",
		state, db_now(), id);

	if (rc < 0 && sqlite3_extended_errcode(s->db) == SQLITE_CONSTRAINT_UNIQUE)
		return err_set(e, ERR_EXISTS, "another task has its name by now");
	if (!rc && !sqlite3_changes(s->db))
		return err_set(
			e, ERR_NOTFOUND, "there is no removed task with the number %lld", (long long)id);
	return rc;
}

int store_allow(struct store *s, int64_t task, const char *glob, struct err *e)
{
	return db_run(s, e, "INSERT OR IGNORE INTO allowed (task_id, glob) VALUES (?, ?)", "is", task, glob);
}

int store_allow_also(struct store *s, int64_t task, int64_t other, struct err *e)
{
	return db_run(s, e,
		"INSERT OR IGNORE INTO allowed (task_id, glob) SELECT ?, glob FROM allowed WHERE task_id = ?",
		"ii", other, task);
}

int store_allowed(struct store *s, int64_t task, struct strvec *ret, struct err *e)
{
	auto_stmt st = NULL;
	int got;

	if (db_prepare(s, &st, e, "SELECT glob FROM allowed WHERE task_id = ? ORDER BY rowid", "i", task) < 0)
		return -1;
	while ((got = db_step(s, st, e)) > 0) {
		auto_str glob = db_text(st, 0);

		strvec_push(ret, glob);
	}
	return got;
}

static int count(
	struct store *s, const char *sql, int64_t project, const char *what, size_t *ret, struct err *e)
{
	auto_stmt st = NULL;

	if (db_prepare(s, &st, e, sql, "is", project, what) < 0 || db_step(s, st, e) < 0)
		return -1;
	*ret = (size_t)sqlite3_column_int64(st, 0);
	return 0;
}

int store_task_count_layer(struct store *s, int64_t project, const char *layer, size_t *ret, struct err *e)
{
	return count(s, "SELECT count(*) FROM task WHERE project_id = ? AND layer = ? AND removed = 0",
		project, layer, ret, e);
}

int store_task_count_shown(struct store *s, int64_t project, const char *shown, size_t *ret, struct err *e)
{
	return count(s, "SELECT count(*) FROM task WHERE project_id = ? AND shown = ? AND removed = 0",
		project, shown, ret, e);
}
