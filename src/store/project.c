#include "base/alloc.h"
#include "base/path.h"
#include "store/db.h"

void project_release(struct project *p)
{
	free(p->path);
	free(p->git_dir);
	free(p->name);
	*p = (struct project){ 0 };
}

void project_list_release(struct project_list *l)
{
	for (size_t i = 0; i < l->n; i++)
		project_release(&l->v[i]);
	free(l->v);
	*l = (struct project_list){ 0 };
}

static void fill(sqlite3_stmt *st, struct project *p)
{
	*p = (struct project){ .id = sqlite3_column_int64(st, 0),
		.path = db_text(st, 1),
		.git_dir = db_text(st, 2),
		.name = db_text(st, 3) };
}

static int one(struct store *s, sqlite3_stmt *st, struct project *ret, struct err *e)
{
	int got = db_step(s, st, e);

	if (got < 0)
		return -1;
	if (!got)
		return err_set(e, ERR_NOTFOUND, "no such project");
	fill(st, ret);
	return 0;
}

int store_project_list(struct store *s, struct project_list *ret, struct err *e)
{
	auto_project_list l = { 0 };
	auto_stmt st = NULL;
	int got;

	if (db_prepare(s, &st, e, "SELECT id, path, git_dir, name FROM project ORDER BY id", "") < 0)
		return -1;
	while ((got = db_step(s, st, e)) > 0) {
		l.v = xrealloc(l.v, l.n + 1, sizeof(*l.v));
		fill(st, &l.v[l.n++]);
	}
	if (got < 0)
		return -1;
	*ret = l;
	l = (struct project_list){ 0 };
	return 0;
}

int store_project_by_id(struct store *s, int64_t id, struct project *ret, struct err *e)
{
	auto_stmt st = NULL;

	if (db_prepare(s, &st, e, "SELECT id, path, git_dir, name FROM project WHERE id = ?", "i", id) < 0)
		return -1;
	return one(s, st, ret, e);
}

int store_project_by_git_dir(struct store *s, const char *git_dir, struct project *ret, struct err *e)
{
	auto_stmt st = NULL;

	if (db_prepare(s, &st, e, "SELECT id, path, git_dir, name FROM project WHERE git_dir = ?", "s",
		    git_dir) < 0)
		return -1;
	return one(s, st, ret, e);
}

int store_project(struct store *s, const char *path, const char *git_dir, struct project *ret, struct err *e)
{
	auto_project found = { 0 };

	if (!store_project_by_git_dir(s, git_dir, &found, e) && !strcmp(found.path, path)) {
		*ret = found;
		found = (struct project){ 0 };
		return 0;
	}
	if (found.id) {
		if (db_run(s, e, "UPDATE project SET path = ?, name = ? WHERE id = ?", "ssi", path,
			    path_base(path), found.id) < 0)
			return -1;
	} else if (e->kind != ERR_NOTFOUND ||
		   db_run(s, e,
			   "INSERT OR IGNORE INTO project (path, git_dir, name, created) VALUES (?, ?, ?, ?)",
			   "sssi", path, git_dir, path_base(path), db_now()) < 0) {
		return -1;
	}
	return store_project_by_git_dir(s, git_dir, ret, e);
}
