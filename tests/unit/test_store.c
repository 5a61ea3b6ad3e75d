#include "scratch.h"

#include <sqlite3.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/strvec.h"
#include "store/schema.h"
#include "store/store.h"

static struct store *opened(struct scratch *s)
{
	struct err e = ERR_INIT;
	struct store *st = NULL;

	if (store_open(s->path, &st, &e) < 0)
		fail_msg("%s", e.msg);
	return st;
}

/* A task of that name; returns its id. */
static int64_t a_task(struct store *st, char *name, char *on_dirty)
{
	struct task t = { .name = name,
		.branch = "b",
		.base = "c0",
		.layer = "",
		.target = "main",
		.backend = "worktree",
		.workspace = "/w",
		.shown = "s0",
		.on_dirty = on_dirty,
		.place = name };
	struct err e = ERR_INIT;
	auto_project p = { 0 };

	assert_int_equal(store_project(st, "/p", "/p/.git", &p, &e), 0);
	t.project_id = p.id;
	assert_int_equal(store_task_insert(st, &t, &e), 0);
	return t.id;
}

static void sql(sqlite3 *db, const char *text)
{
	char *msg = NULL;

	if (sqlite3_exec(db, text, NULL, NULL, &msg) != SQLITE_OK)
		fail_msg("%s", msg);
}

/* Data that the first version of the schema wrote is kept, with defaults for later columns. */
static void test_an_old_store_is_brought_up_to_date(void **state)
{
	struct scratch *s = *state;
	auto_str path = xasprintf("%s/garth.db", s->path);
	struct err e = ERR_INIT;
	sqlite3 *db = NULL;

	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	sql(db, schema_steps[0]);
	sql(db, "PRAGMA user_version = 1;"
		"INSERT INTO project VALUES (1, '/p', '/p/.git', 'p', 1);"
		"INSERT INTO task (id, project_id, name, branch, base, layer, target, backend, state, workspace,"
		" shown, strict, created, changed) VALUES (7, 1, 'old', 'b', 'c', 'l', 'main', 'overlay', 'done',"
		" '/w', 's', 1, 5, 6), (8, 1, 'seen', 'b', 'c', '', 'main', 'worktree', 'done', '/w', 's', 1, 5,"
		" 6);");
	assert_int_equal(sqlite3_close(db), SQLITE_OK);
	for (int i = 0; i < 2; i++) {
		auto_store st = opened(s);
		auto_task t = { 0 }, seen = { 0 };

		assert_int_equal(store_task_by_place(st, "seen", &seen, &e), 0);
		assert_int_equal(seen.id, 8);
		assert_int_equal(store_task_by_name(st, 1, "old", &t, &e), 0);
		assert_int_equal(t.id, 7);
		assert_string_equal(t.shown, "s");
		assert_string_equal(t.published, "");
		assert_string_equal(t.note, "");
		assert_string_equal(t.on_dirty, "fail");
		assert_string_equal(t.place, "");
		assert_string_equal(t.ref_was, "");
		assert_string_equal(t.inside_was, "");
		assert_int_equal(t.commits, 0);
		assert_true(t.strict);
		assert_int_equal(t.created, 5);
		assert_int_equal(store_task_published(st, 7, "", 0, 0, &e), 0);
		assert_int_equal(store_set_fact(st, "k", "v", &e), 0);
	}
}

/* A task of that name in another project; returns its id. */
static int64_t task_elsewhere(struct store *st, char *name, char *place)
{
	struct task t = { .name = name,
		.branch = "b",
		.base = "c0",
		.layer = "",
		.target = "main",
		.backend = "worktree",
		.workspace = "/w",
		.shown = "s0",
		.place = place };
	struct err e = ERR_INIT;
	auto_project p = { 0 };

	assert_int_equal(store_project(st, "/q", "/q/.git", &p, &e), 0);
	t.project_id = p.id;
	assert_int_equal(store_task_insert(st, &t, &e), 0);
	return t.id;
}

/* A name is taken in its own project only, also in a store that an older version made. */
static void test_names_are_per_project(void **state)
{
	struct scratch *s = *state;
	auto_store st = opened(s);
	struct err e = ERR_INIT;
	int64_t here = a_task(st, "t", NULL), there = task_elsewhere(st, "t", "t@2");
	struct task again = { .project_id = 1,
		.name = "t",
		.branch = "b",
		.base = "c0",
		.layer = "",
		.target = "main",
		.backend = "worktree",
		.workspace = "/w",
		.shown = "s0" };
	auto_task_list all = { 0 };
	auto_task one = { 0 }, two = { 0 }, placed = { 0 };

	assert_int_equal(store_task_by_name(st, 1, "t", &one, &e), 0);
	assert_int_equal(one.id, here);
	assert_int_equal(store_task_by_name(st, 2, "t", &two, &e), 0);
	assert_int_equal(two.id, there);
	assert_int_equal(store_task_by_place(st, "t@2", &placed, &e), 0);
	assert_int_equal(placed.id, there);
	assert_int_equal(store_task_insert(st, &again, &e), -1);
	assert_int_equal(e.kind, ERR_EXISTS);
	assert_int_equal(store_task_named(st, "t", false, &all, &e), 0);
	assert_int_equal(all.n, 2);
}

static void assert_place(struct store *st, int64_t project, const char *name, const char *want)
{
	struct err e = ERR_INIT;
	auto_str got = NULL;

	assert_int_equal(store_task_place(st, project, name, &got, &e), 0);
	assert_string_equal(got, want);
}

/* A directory is given to one task only, and kept for a removed one that may come back. */
static void test_places(void **state)
{
	struct scratch *s = *state;
	auto_store st = opened(s);
	struct err e = ERR_INIT;
	int64_t id;

	assert_place(st, 1, "t", "t");
	id = a_task(st, "t", NULL);
	assert_place(st, 2, "t", "t@2");
	assert_int_equal(store_deed_add(st, id, "discard", "{}", NULL, &e), 0);
	assert_int_equal(store_task_remove(st, id, "discarded", &e), 0);
	assert_place(st, 1, "t", "t");
	assert_place(st, 2, "t", "t@2");
	task_elsewhere(st, "t", "t@2");
	assert_place(st, 2, "t", "t@2.2");
	/* a renamed task keeps its directory */
	id = a_task(st, "old", NULL);
	assert_int_equal(store_task_rename(st, id, "new", "b2", true, &e), 0);
	assert_place(st, 1, "old", "old@1");
}

/* What a rename still has to do is known until it is done. */
static void test_rename(void **state)
{
	struct scratch *s = *state;
	auto_store st = opened(s);
	struct err e = ERR_INIT;
	int64_t id = a_task(st, "a", NULL);
	auto_task t = { 0 }, back = { 0 }, done = { 0 };

	a_task(st, "taken", NULL);
	assert_int_equal(store_task_rename(st, id, "taken", "b2", true, &e), -1);
	assert_int_equal(e.kind, ERR_EXISTS);
	assert_int_equal(store_task_rename(st, id, "c", "b2", true, &e), 0);
	assert_int_equal(store_task_by_id(st, id, &t, &e), 0);
	assert_string_equal(t.name, "c");
	assert_string_equal(t.branch, "b2");
	assert_string_equal(t.place, "a");
	assert_string_equal(t.ref_was, "b");
	assert_string_equal(t.inside_was, "b");
	/* back again before the task's own repository has followed: it has nothing to do */
	assert_int_equal(store_task_renamed(st, id, false, &e), 0);
	assert_int_equal(store_task_rename(st, id, "a", "b", true, &e), 0);
	assert_int_equal(store_task_by_id(st, id, &back, &e), 0);
	assert_string_equal(back.ref_was, "b2");
	assert_string_equal(back.inside_was, "");
	assert_int_equal(store_task_rename(st, id, "d", "b3", false, &e), 0);
	assert_int_equal(store_task_renamed(st, id, false, &e), 0);
	assert_int_equal(store_task_by_id(st, id, &done, &e), 0);
	assert_string_equal(done.ref_was, "");
	assert_string_equal(done.inside_was, "");
}

/* The number of schema steps in version 5. */
#define BEFORE_PUSHED 5

/* Earlier versions called pushed tasks merged: only tasks that were really merged still are. */
static void test_what_was_only_pushed_is_not_merged(void **state)
{
	static const struct {
		const char *name, *state;
	} want[] = { { "pushed", "done" }, { "merged", "merged" }, { "undone", "done" },
		{ "solved", "merged" }, { "blocked", "blocked" } };
	struct scratch *s = *state;
	auto_str path = xasprintf("%s/garth.db", s->path);
	struct err e = ERR_INIT;
	sqlite3 *db = NULL;

	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	for (int i = 0; i < BEFORE_PUSHED; i++)
		sql(db, schema_steps[i]);
	sql(db, "PRAGMA user_version = 5;"
		"INSERT INTO project VALUES (1, '/p', '/p/.git', 'p', 1);"
		"INSERT INTO task (id, project_id, name, branch, base, layer, target, backend, state, workspace,"
		" shown, strict, created, changed) SELECT value, 1, 't' || value, 'b', 'c', 'l', 'main',"
		" 'overlay', 'merged', '/w', 's', 0, 5, 6 FROM (SELECT 1 AS value UNION SELECT 2 UNION SELECT 3"
		" UNION SELECT 14 UNION SELECT 5);"
		"UPDATE task SET name = CASE id WHEN 1 THEN 'pushed' WHEN 2 THEN 'merged' WHEN 3 THEN 'undone'"
		" WHEN 14 THEN 'solved' ELSE 'blocked' END;"
		"UPDATE task SET state = 'blocked' WHERE id = 5;"
		"INSERT INTO deed (task_id, task, kind, data, created, undone) VALUES (2, 'merged', 'merge', '', 1, 0),"
		" (3, 'undone', 'merge', '', 1, 7);"
		"INSERT INTO fact VALUES ('solved/9', '14 done');");
	assert_int_equal(sqlite3_close(db), SQLITE_OK);
	auto_store st = opened(s);
	for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
		auto_task t = { 0 };

		assert_int_equal(store_task_by_name(st, 1, want[i].name, &t, &e), 0);
		assert_string_equal(t.state, want[i].state);
		assert_string_equal(t.pushed_tip, "");
	}
}

/* The commits that a tip became elsewhere are found by the tip, newest first, each once. */
static void test_landed(void **state)
{
	struct scratch *s = *state;
	auto_store st = opened(s);
	struct err e = ERR_INIT;
	int64_t id = a_task(st, "t", NULL);
	auto_strvec got = STRVEC_INIT;
	auto_task t = { 0 };

	assert_int_equal(store_landed_add(st, id, "a", "x", &e), 0);
	assert_int_equal(store_landed_add(st, id, "a", "y", &e), 0);
	assert_int_equal(store_landed_add(st, id, "a", "x", &e), 0);
	assert_int_equal(store_landed_add(st, id, "b", "z", &e), 0);
	assert_int_equal(store_landed(st, id, "a", &got, &e), 0);
	assert_int_equal(got.n, 2);
	assert_string_equal(got.v[0], "y");
	assert_int_equal(store_task_pushed(st, id, "origin", "garth/t", "a", &e), 0);
	assert_int_equal(store_task_by_id(st, id, &t, &e), 0);
	assert_string_equal(t.pushed_remote, "origin");
	assert_string_equal(t.pushed_branch, "garth/t");
	assert_string_equal(t.pushed_tip, "a");
}

static void test_a_newer_store_is_refused(void **state)
{
	struct scratch *s = *state;
	auto_str path = xasprintf("%s/garth.db", s->path);
	struct err e = ERR_INIT;
	struct store *st = NULL;
	sqlite3 *db = NULL;

	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	sql(db, "PRAGMA user_version = 1000");
	sqlite3_close(db);
	assert_int_equal(store_open(s->path, &st, &e), -1);
	assert_non_null(strstr(e.msg, "newer garth"));
}

static void test_what_a_task_publishes(void **state)
{
	auto_store st = opened(*state);
	int64_t id = a_task(st, "one", NULL), other = a_task(st, "two", "commit");
	struct err e = ERR_INIT;
	auto_task t = { 0 }, again = { 0 }, two = { 0 };

	assert_int_equal(store_task_by_id(st, id, &t, &e), 0);
	assert_string_equal(t.on_dirty, "fail");
	assert_int_equal(store_task_published(st, id, "c1", 3, 4096, &e), 0);
	assert_int_equal(store_task_note(st, id, "why", &e), 0);
	assert_int_equal(store_task_rebased(st, id, "c9", "s9", &e), 0);
	assert_int_equal(store_task_by_id(st, id, &again, &e), 0);
	assert_string_equal(again.published, "c1");
	assert_int_equal(again.commits, 3);
	assert_int_equal(again.bytes, 4096);
	assert_string_equal(again.note, "why");
	assert_string_equal(again.base, "c9");
	assert_string_equal(again.shown, "s9");
	/* an update with an older row does not overwrite the gateway's columns */
	assert_int_equal(store_task_update(st, &t, &e), 0);
	task_release(&again);
	assert_int_equal(store_task_by_id(st, id, &again, &e), 0);
	assert_string_equal(again.published, "c1");
	assert_int_equal(again.commits, 3);
	assert_string_equal(again.note, "why");
	assert_string_equal(again.base, "c0");
	assert_int_equal(store_task_by_id(st, other, &two, &e), 0);
	assert_string_equal(two.on_dirty, "commit");
	assert_string_equal(two.published, "");
	free(two.on_dirty);
	two.on_dirty = NULL;
	assert_int_equal(store_task_update(st, &two, &e), 0);
	task_release(&two);
	assert_int_equal(store_task_by_id(st, other, &two, &e), 0);
	assert_string_equal(two.on_dirty, "commit");
	assert_int_equal(store_task_published(st, 99, "c", 1, 0, &e), -1);
	assert_int_equal(e.kind, ERR_NOTFOUND);
	assert_int_equal(store_task_note(st, 99, "c", &e), -1);
	assert_int_equal(store_task_rebased(st, 99, "c", "s", &e), -1);
}

static void test_removed_and_back(void **state)
{
	auto_store st = opened(*state);
	int64_t id = a_task(st, "t", NULL), second;
	struct err e = ERR_INIT;
	auto_task t = { 0 };

	assert_int_equal(store_task_restore(st, id, "done", &e), -1);
	assert_int_equal(e.kind, ERR_NOTFOUND);
	assert_int_equal(store_task_remove(st, id, "discarded", &e), 0);
	assert_int_equal(store_task_by_id(st, id, &t, &e), -1);
	assert_int_equal(e.kind, ERR_NOTFOUND);
	assert_int_equal(store_task_any(st, id, &t, &e), 0);
	assert_true(t.removed > 0);
	second = a_task(st, "t", NULL);
	assert_int_equal(store_task_restore(st, id, "done", &e), -1);
	assert_int_equal(e.kind, ERR_EXISTS);
	assert_int_equal(store_task_remove(st, second, "discarded", &e), 0);
	assert_int_equal(store_task_restore(st, id, "done", &e), 0);
	task_release(&t);
	assert_int_equal(store_task_by_name(st, 1, "t", &t, &e), 0);
	assert_int_equal(t.id, id);
	assert_string_equal(t.state, "done");
	assert_int_equal(t.removed, 0);
	assert_int_equal(store_task_any(st, 99, &t, &e), -1);
	assert_int_equal(e.kind, ERR_NOTFOUND);
}

static void test_allowed_globs(void **state)
{
	auto_store st = opened(*state);
	int64_t id = a_task(st, "t", NULL), other = a_task(st, "u", NULL);
	auto_strvec globs = STRVEC_INIT, none = STRVEC_INIT;
	struct err e = ERR_INIT;

	assert_int_equal(store_allow(st, id, "b/**", &e), 0);
	assert_int_equal(store_allow(st, id, "a*", &e), 0);
	assert_int_equal(store_allow(st, id, "b/**", &e), 0);
	assert_int_equal(store_allowed(st, id, &globs, &e), 0);
	assert_int_equal(globs.n, 2);
	assert_string_equal(globs.v[0], "b/**");
	assert_string_equal(globs.v[1], "a*");
	assert_int_equal(store_allowed(st, other, &none, &e), 0);
	assert_int_equal(none.n, 0);
	assert_int_equal(store_allow(st, 99, "x", &e), -1);
	/* rows that belong to a task do not prevent forgetting it */
	assert_int_equal(store_task_forget(st, id, &e), 0);
	strvec_release(&globs);
	assert_int_equal(store_allowed(st, id, &globs, &e), 0);
	assert_int_equal(globs.n, 0);
}

static void test_facts(void **state)
{
	auto_store st = opened(*state);
	struct err e = ERR_INIT;
	char *v = NULL;

	assert_int_equal(store_fact(st, "k", &v, &e), -1);
	assert_int_equal(e.kind, ERR_NOTFOUND);
	assert_int_equal(store_set_fact(st, "k", "1", &e), 0);
	assert_int_equal(store_set_fact(st, "k", "2 with 'quotes'", &e), 0);
	assert_int_equal(store_fact(st, "k", &v, &e), 0);
	assert_string_equal(v, "2 with 'quotes'");
	free(v);
}

static void test_compared(void **state)
{
	auto_store st = opened(*state);
	struct err e = ERR_INIT;
	char *v = NULL, name[16];

	assert_int_equal(store_compared(st, "conflict", "a", "b", &v, &e), -1);
	assert_int_equal(e.kind, ERR_NOTFOUND);
	assert_int_equal(store_set_compared(st, "conflict", "a", "b", "x", &e), 0);
	assert_int_equal(store_set_compared(st, "conflict", "a", "b", "y", &e), 0);
	assert_int_equal(store_set_compared(st, "ahead", "a", "b", "z", &e), 0);
	assert_int_equal(store_compared(st, "conflict", "a", "b", &v, &e), 0);
	assert_string_equal(v, "y");
	free(v);
	assert_int_equal(store_compared(st, "conflict", "b", "a", &v, &e), -1);
	/* it does not grow without limit: the oldest are removed */
	assert_int_equal(store_begin(st, &e), 0);
	for (int i = 0; i < 20000; i++) {
		snprintf(name, sizeof(name), "%d", i);
		assert_int_equal(store_set_compared(st, "k", name, "b", "", &e), 0);
	}
	assert_int_equal(store_commit(st, &e), 0);
	assert_int_equal(store_compared(st, "conflict", "a", "b", &v, &e), -1);
	assert_int_equal(e.kind, ERR_NOTFOUND);
	assert_int_equal(store_compared(st, "k", "19999", "b", &v, &e), 0);
	free(v);
}

static void test_snapshots(void **state)
{
	auto_store st = opened(*state);
	int64_t id = a_task(st, "t", NULL), other = a_task(st, "u", NULL);
	struct snapshot a = { .task_id = id, .commit = "c1", .reason = "start", .commits = 4 };
	struct snapshot b = {
		.task_id = id, .commit = "c2", .state = "s2", .reason = "asked", .message = "m"
	};
	struct snapshot c = { .task_id = other, .commit = "c3", .reason = "start" };
	struct snapshot lost = { .task_id = 99, .commit = "c3", .reason = "start" };
	struct err e = ERR_INIT;
	auto_snapshot got = { 0 };
	auto_snapshot_list l = { 0 }, none = { 0 };

	assert_int_equal(store_snapshot_add(st, &a, &e), 0);
	assert_int_equal(store_snapshot_add(st, &b, &e), 0);
	assert_int_equal(store_snapshot_add(st, &c, &e), 0);
	assert_int_equal(store_snapshot_add(st, &lost, &e), -1);
	assert_int_equal(a.number, 1);
	assert_int_equal(b.number, 2);
	assert_int_equal(c.number, 1);
	assert_true(a.id != c.id && a.created > 0);
	assert_int_equal(store_snapshot(st, id, 2, &got, &e), 0);
	assert_string_equal(got.commit, "c2");
	assert_string_equal(got.state, "s2");
	assert_string_equal(got.reason, "asked");
	assert_string_equal(got.message, "m");
	assert_int_equal(got.id, b.id);
	assert_int_equal(store_snapshot(st, id, 3, &got, &e), -1);
	assert_int_equal(e.kind, ERR_NOTFOUND);
	assert_int_equal(store_snapshot_list(st, id, &l, &e), 0);
	assert_int_equal(l.n, 2);
	assert_string_equal(l.v[0].state, "");
	assert_int_equal(l.v[0].commits, 4);
	assert_int_equal(l.v[1].number, 2);
	assert_int_equal(store_snapshot_list(st, 99, &none, &e), 0);
	assert_int_equal(none.n, 0);
}

static void test_submodules(void **state)
{
	auto_store st = opened(*state);
	int64_t id = a_task(st, "t", NULL), other = a_task(st, "u", NULL), commits, bytes;
	struct submodule_row a = { "c1", 2, 30 }, b = { "c2", 1, 5 }, got;
	struct err e = ERR_INIT;
	char tip[OID_SIZE];

	assert_int_equal(store_submodule(st, id, "lib", &got, &e), 0);
	assert_string_equal(got.published, "");
	assert_int_equal(store_submodule_set(st, id, "lib", &b, &e), 0);
	assert_int_equal(store_submodule_set(st, id, "lib", &a, &e), 0);
	assert_int_equal(store_submodule_set(st, id, "lib/deep", &b, &e), 0);
	assert_int_equal(store_submodule(st, id, "lib", &got, &e), 0);
	assert_string_equal(got.published, "c1");
	assert_int_equal(got.commits, 2);
	assert_int_equal(got.bytes, 30);
	assert_int_equal(store_submodule_sum(st, id, &commits, &bytes, &e), 0);
	assert_int_equal(commits, 3);
	assert_int_equal(bytes, 35);
	assert_int_equal(store_submodule_sum(st, other, &commits, &bytes, &e), 0);
	assert_int_equal(commits, 0);
	assert_int_equal(store_snapshot_submodule_add(st, id, 2, "lib", "c1", &e), 0);
	assert_int_equal(store_snapshot_submodule(st, id, 2, "lib", tip, &e), 0);
	assert_string_equal(tip, "c1");
	assert_int_equal(store_snapshot_submodule(st, id, 1, "lib", tip, &e), 0);
	assert_string_equal(tip, "");
}

static void test_deeds(void **state)
{
	auto_store st = opened(*state);
	int64_t id = a_task(st, "t", NULL), other = a_task(st, "u", NULL), first, second, third;
	struct err e = ERR_INIT;
	auto_deed d = { 0 };

	assert_int_equal(store_deed_last(st, NULL, 0, &d, &e), -1);
	assert_int_equal(e.kind, ERR_NOTFOUND);
	assert_int_equal(store_deed_add(st, id, "rollback", "{}", &first, &e), 0);
	assert_int_equal(store_deed_add(st, id, "discard", "{\"a\":1}", &second, &e), 0);
	assert_int_equal(store_deed_add(st, other, "merge", "{}", &third, &e), 0);
	assert_int_equal(store_deed_add(st, 99, "merge", "{}", &third, &e), -1);
	assert_int_equal(e.kind, ERR_NOTFOUND);
	assert_int_equal(store_deed_last(st, NULL, 0, &d, &e), 0);
	assert_string_equal(d.task, "u");
	deed_release(&d);
	/* found by its name, although it is removed */
	assert_int_equal(store_task_remove(st, id, "discarded", &e), 0);
	assert_int_equal(store_deed_last(st, "t", 0, &d, &e), 0);
	assert_int_equal(d.id, second);
	assert_int_equal(d.task_id, id);
	assert_string_equal(d.kind, "discard");
	assert_string_equal(d.data, "{\"a\":1}");
	assert_int_equal(d.undone, 0);
	deed_release(&d);
	assert_int_equal(store_deed_of(st, id, "rollback", &d, &e), 0);
	assert_int_equal(d.id, first);
	deed_release(&d);
	assert_int_equal(store_deed_of(st, other, "rollback", &d, &e), -1);
	assert_int_equal(e.kind, ERR_NOTFOUND);
	assert_int_equal(store_deed_undone(st, second, &e), 0);
	assert_int_equal(store_deed_undone(st, second, &e), -1);
	assert_int_equal(store_deed_last(st, "t", 0, &d, &e), 0);
	assert_int_equal(d.id, first);
	assert_int_equal(store_deed_last(st, "nobody", 0, &d, &e), -1);
	assert_int_equal(e.kind, ERR_NOTFOUND);
}

/* Each process opens a store that does not exist yet, as soon as the pipe is closed. */
static void open_when_told(const char *home, int told)
{
	struct err e = ERR_INIT;
	auto_store st = NULL;
	char c;

	(void)!read(told, &c, 1);
	if (store_open(home, &st, &e) < 0)
		fprintf(stderr, "%s\n", e.msg);
	_exit(!st);
}

static void test_many_make_it_at_once(void **state)
{
	struct scratch *s = *state;

	for (int round = 0; round < 40; round++) {
		auto_str home = xasprintf("%s/%d", s->path, round);
		int go[2], status;

		assert_int_equal(mkdir(home, 0700), 0);
		assert_int_equal(pipe(go), 0);
		for (int i = 0; i < 8; i++)
			if (!fork()) {
				close(go[1]);
				open_when_told(home, go[0]);
			}
		close(go[0]);
		close(go[1]);
		for (int i = 0; i < 8; i++) {
			assert_true(wait(&status) > 0);
			assert_int_equal(status, 0);
		}
	}
}

/* Many answers about pairs of commits in one question. */
static void test_compared_many(void **state)
{
	auto_store st = opened(*state);
	struct compared_pair v[] = { { "a1", "b1", NULL }, { "a2", "b2", NULL }, { "a1", "b2", NULL } };
	const struct compared_pair set[] = { { "a1", "b1", (char *)"one" }, { "a2", "b2", (char *)"two" },
		{ "a3", "b3", NULL } };
	struct err e = ERR_INIT;

	assert_int_equal(store_set_compared_many(st, "kind", set, 3, &e), 0);
	assert_int_equal(store_compared_many(st, "kind", v, 3, &e), 0);
	assert_string_equal(v[0].result, "one");
	assert_string_equal(v[1].result, "two");
	assert_null(v[2].result);
	free(v[0].result);
	free(v[1].result);
	v[0].result = v[1].result = NULL;
	assert_int_equal(store_compared_many(st, "other", v, 3, &e), 0);
	assert_null(v[0].result);
	/* no transaction is left open */
	assert_int_equal(store_begin(st, &e), 0);
	assert_int_equal(store_commit(st, &e), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		scratch_test(test_an_old_store_is_brought_up_to_date),
		scratch_test(test_what_was_only_pushed_is_not_merged),
		scratch_test(test_landed),
		scratch_test(test_names_are_per_project),
		scratch_test(test_places),
		scratch_test(test_rename),
		scratch_test(test_many_make_it_at_once),
		scratch_test(test_a_newer_store_is_refused),
		scratch_test(test_what_a_task_publishes),
		scratch_test(test_removed_and_back),
		scratch_test(test_allowed_globs),
		scratch_test(test_facts),
		scratch_test(test_compared),
		scratch_test(test_snapshots),
		scratch_test(test_submodules),
		scratch_test(test_deeds),
		scratch_test(test_compared_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
