#include "scratch.h"

#include <sys/stat.h>

#include "base/alloc.h"
#include "git/run.h"
#include "merge/compose.h"
#include "merge/conflicts.h"
#include "merge/edit.h"
#include "merge/git_commands.h"
#include "merge/journal.h"
#include "merge/merge.h"
#include "merge/overview.h"
#include "merge/touched.h"
#include "sys/fd.h"
#include "task/life.h"

/* A repository, a Garth home and a store beneath the scratch directory. */
struct ground {
	struct context c;
	struct project project;
	struct repo repo;
	char *git_dir, *top;
};

static void git(struct ground *g, struct buf *out, ...)
{
	struct git at = { .dir = g->git_dir, .work_tree = g->top, .cwd = g->top };
	auto_strvec args = STRVEC_INIT;
	struct err e = ERR_INIT;
	const char *s;
	va_list ap;

	strvec_pushl(&args, "-c", "user.name=T", "-c", "user.email=t@example.com", NULL);
	va_start(ap, out);
	while ((s = va_arg(ap, const char *)))
		strvec_push(&args, s);
	va_end(ap);
	if (git_run(&at, &args, NULL, out, &e) < 0)
		fail_msg("%s", e.msg);
}

/* A commit with one file changed, on top of another; its id. */
static char *commit(struct ground *g, const char *parent, const char *file, const char *text)
{
	auto_str path = xasprintf("%s/%s", g->top, file);
	auto_buf out = BUF_SMALL;
	struct err e = ERR_INIT;

	if (parent)
		git(g, NULL, "checkout", "-q", "--detach", parent, NULL);
	assert_int_equal(write_file(AT_FDCWD, path, text, strlen(text), 0644, &e), 0);
	git(g, NULL, "add", "-A", NULL);
	git(g, NULL, "commit", "-q", "-m", file, NULL);
	git(g, &out, "rev-parse", "HEAD", NULL);
	buf_cut(&out, strcspn(buf_str(&out), "\n"));
	return buf_steal(&out);
}

static void ground_open(struct ground *g, struct scratch *s)
{
	struct err e = ERR_INIT;
	auto_str home = xasprintf("%s/home", s->path);

	*g = (struct ground){ 0 };
	g->top = xasprintf("%s/repo", s->path);
	g->git_dir = xasprintf("%s/.git", g->top);
	assert_int_equal(mkdir(home, 0700), 0);
	assert_int_equal(mkdir(g->top, 0700), 0);
	setenv("HOME", home, 1);
	unsetenv("GARTH_HOME");
	unsetenv("GARTH_CONFIG");
	unsetenv("XDG_CONFIG_HOME");
	git(g, NULL, "init", "-q", "-b", "main", NULL);
	assert_int_equal(context_open(&g->c, &e), 0);
	assert_int_equal(context_store(&g->c, &e), 0);
	assert_int_equal(store_project(g->c.store, g->top, g->git_dir, &g->project, &e), 0);
	assert_int_equal(repo_open_git_dir(g->git_dir, g->top, 20, &g->repo, &e), 0);
}

static void ground_close(struct ground *g)
{
	context_close(&g->c);
	project_release(&g->project);
	repo_release(&g->repo);
	free(g->top);
	free(g->git_dir);
}
#define auto_ground __attribute__((cleanup(ground_close))) struct ground

static void add_task(struct ground *g, char *name, char *base, const char *tip)
{
	struct task t = { .project_id = g->project.id,
		.name = name,
		.branch = "refs/heads/garth/x",
		.base = base,
		.layer = "",
		.target = "refs/heads/main",
		.backend = "overlay",
		.workspace = "/w",
		.shown = "",
		.on_dirty = "fail" };
	struct err e = ERR_INIT;

	assert_int_equal(store_task_insert(g->c.store, &t, &e), 0);
	assert_int_equal(store_task_published(g->c.store, t.id, tip, 1, 0, &e), 0);
}

static void conflicts_of(struct ground *g, const char *name, struct conflict_list *ret)
{
	auto_task_list all = { 0 };
	auto_task t = { 0 };
	struct err e = ERR_INIT;

	assert_int_equal(store_task_list(g->c.store, false, &all, &e), 0);
	assert_int_equal(store_task_by_name(g->c.store, 1, name, &t, &e), 0);
	if (merge_conflicts(&g->c, &t, &all, ret, &e) < 0)
		fail_msg("%s", e.msg);
}

/* G11: conflicts between two tasks are known before any merge, and git is asked once. */
static void test_conflicts_between_tasks(void **state)
{
	auto_ground g;
	auto_str base = NULL, one = NULL, two = NULL, three = NULL, away = NULL;

	ground_open(&g, *state);
	base = commit(&g, NULL, "a", "0\n");
	one = commit(&g, base, "a", "1\n");
	two = commit(&g, base, "a", "2\n");
	three = commit(&g, base, "b", "3\n");
	add_task(&g, "one", base, one);
	add_task(&g, "two", base, two);
	add_task(&g, "three", base, three);
	add_task(&g, "same", base, two);
	add_task(&g, "nothing", base, "");
	for (int i = 0; i < 2; i++) {
		auto_conflict_list of_one = { 0 }, of_two = { 0 }, of_three = { 0 };

		conflicts_of(&g, "one", &of_one);
		assert_int_equal(of_one.n, 2);
		assert_string_equal(of_one.v[0].task, "two");
		assert_string_equal(of_one.v[0].path, "a");
		assert_string_equal(of_one.v[1].task, "same");
		assert_string_equal(of_one.v[1].path, "a");
		conflicts_of(&g, "two", &of_two);
		assert_int_equal(of_two.n, 1);
		assert_string_equal(of_two.v[0].task, "one");
		assert_string_equal(of_two.v[0].path, "a");
		conflicts_of(&g, "three", &of_three);
		assert_int_equal(of_three.n, 0);
		/* the second time there is no repository to ask */
		free(away);
		away = xasprintf("%s.away", g.top);
		if (!i)
			assert_int_equal(rename(g.top, away), 0);
	}
}

/* G11: changes that a task got from its target by a sync are not its own, and a conflict with the target is
 * reported as such. */
static void test_conflicts_of_own_changes(void **state)
{
	auto_conflict_list of_synced = { 0 }, of_old = { 0 }, of_idle = { 0 };
	auto_str base = NULL, moved = NULL, synced = NULL, old = NULL;
	auto_ground g;

	ground_open(&g, *state);
	base = commit(&g, NULL, "a", "0\n");
	old = commit(&g, base, "a", "old\n");
	moved = commit(&g, base, "a", "moved\n");
	synced = commit(&g, moved, "b", "own\n");
	git(&g, NULL, "update-ref", "refs/heads/main", moved, NULL);
	add_task(&g, "old", base, old);
	add_task(&g, "synced", moved, synced);
	add_task(&g, "idle", moved, moved);
	conflicts_of(&g, "old", &of_old);
	assert_int_equal(of_old.n, 1);
	assert_null(of_old.v[0].task);
	assert_string_equal(of_old.v[0].path, "a");
	conflicts_of(&g, "synced", &of_synced);
	assert_int_equal(of_synced.n, 0);
	conflicts_of(&g, "idle", &of_idle);
	assert_int_equal(of_idle.n, 0);
}

static void test_divergence(void **state)
{
	auto_ground g;
	auto_str base = NULL, tip = NULL, moved = NULL, objects = NULL, away = NULL;
	struct err e = ERR_INIT;

	ground_open(&g, *state);
	base = commit(&g, NULL, "a", "0\n");
	tip = commit(&g, base, "b", "1\n");
	moved = commit(&g, base, "c", "1\n");
	git(&g, NULL, "update-ref", "refs/heads/main", moved, NULL);
	add_task(&g, "one", base, tip);
	add_task(&g, "fresh", base, "");
	objects = xasprintf("%s/objects", g.git_dir);
	away = xasprintf("%s/away", g.git_dir);
	for (int i = 0; i < 2; i++) {
		static const struct {
			const char *name;
			size_t ahead, behind;
		} want[] = { { "one", 1, 1 }, { "fresh", 0, 1 } };

		for (size_t k = 0; k < ARRAY_SIZE(want); k++) {
			struct divergence d = { 9, 9 };
			auto_task t = { 0 };

			assert_int_equal(store_task_by_name(g.c.store, 1, want[k].name, &t, &e), 0);
			if (merge_divergence(&g.c, &t, &d, &e) < 0)
				fail_msg("%s", e.msg);
			assert_int_equal(d.ahead, want[k].ahead);
			assert_int_equal(d.behind, want[k].behind);
		}
		/* the second time there are no objects to ask about */
		if (!i)
			assert_int_equal(rename(objects, away), 0);
	}
}

/* The agent's merge commits are not copied; what they brought from main is there already. */
static void test_rebase_leaves_merges_out(void **state)
{
	const struct merge_spec spec = { .kind = MERGE_REBASE };
	auto_strvec conflicts = STRVEC_INIT;
	auto_ground g;
	auto_str base = NULL, tip = NULL, main_tip = NULL, newer = NULL, after = NULL;
	auto_buf out = BUF_SMALL;
	struct err e = ERR_INIT;

	ground_open(&g, *state);
	git(&g, NULL, "config", "user.name", "U", NULL);
	git(&g, NULL, "config", "user.email", "u@example.com", NULL);
	base = commit(&g, NULL, "a", "0\n");
	main_tip = commit(&g, base, "m", "1\n");
	newer = commit(&g, main_tip, "m2", "2\n");
	tip = commit(&g, base, "t", "1\n");
	git(&g, NULL, "merge", "-q", "--no-edit", main_tip, NULL);
	after = commit(&g, NULL, "t2", "2\n");

	struct compose c = { .repo = &g.repo, .spec = &spec, .task = "t", .old = newer, .tip = after };
	if (compose_run(&c, &conflicts, &e) < 0)
		fail_msg("%s", e.msg);
	git(&g, &out, "log", "--format=%s %p", "--abbrev=1", "--name-only", "-2", c.new_oid, NULL);
	assert_non_null(strstr(buf_str(&out), "t2 "));
	git(&g, &out, "rev-list", "--count", "--no-merges", c.new_oid, NULL);
	assert_non_null(strstr(buf_str(&out), "\n5\n"));
	buf_reset(&out);
	git(&g, &out, "ls-tree", "--name-only", c.new_oid, NULL);
	assert_string_equal(buf_str(&out), "a\nm\nm2\nt\nt2\n");
}

/* Whatever bytes a path has, the journal gives them back. */
static void test_journal(void **state)
{
	static const char odd[] = "/x/%41 \xff\xc3\xa4\n\"q\"";
	auto_ground g;
	struct journal j = { .project = 7,
		.task = 8,
		.deed = 9,
		.name = "t",
		.target = "refs/heads/main",
		.from = "a",
		.to = "b",
		.kind = "merge",
		.top = (char *)odd,
		.admin = (char *)"",
		.state = (char *)"done" };
	struct journal_link link = { .path = (char *)odd,
		.from = "c",
		.to = "d",
		.how = "moved",
		.head = "refs/heads/x",
		.top = (char *)odd,
		.admin = "",
		.git_dir = "/r" };
	auto_journal back = { 0 };
	struct err e = ERR_INIT;
	int64_t *list;
	size_t n;

	j.links = (struct journal_links){ &link, 1 };
	ground_open(&g, *state);
	assert_int_equal(journal_read(&g.c.home, 7, &back, &e), -1);
	assert_int_equal(e.kind, ERR_NOTFOUND);
	assert_int_equal(journal_write(&g.c.home, &j, &e), 0);
	assert_int_equal(journal_read(&g.c.home, 7, &back, &e), 0);
	assert_string_equal(back.top, odd);
	assert_string_equal(back.admin, "");
	assert_int_equal(back.task, 8);
	assert_int_equal(back.deed, 9);
	assert_int_equal(back.links.n, 1);
	assert_string_equal(back.links.v[0].path, odd);
	assert_string_equal(back.links.v[0].top, odd);
	assert_string_equal(back.links.v[0].to, "d");
	assert_string_equal(back.links.v[0].how, "moved");
	assert_string_equal(back.links.v[0].head, "refs/heads/x");
	assert_string_equal(back.links.v[0].git_dir, "/r");
	assert_int_equal(journal_list(&g.c.home, &list, &n, &e), 0);
	assert_int_equal(n, 1);
	assert_int_equal(list[0], 7);
	free(list);
	journal_remove(&g.c.home, 7);
	assert_int_equal(journal_list(&g.c.home, &list, &n, &e), 0);
	assert_int_equal(n, 0);
}

static void test_plan(void **state)
{
	struct scratch *s = *state;
	struct edit v[] = {
		{ .kind = EDIT_ADD, .path = " lead\ning/\xff", .kept = 3, .now = { 1, 2, 3, 4, 5 } },
		{ .kind = EDIT_REMOVE, .path = "a", .was = { ~0ull, 1, -2, 999999999, 0120000 } },
		{ .kind = EDIT_LINK, .path = "lib" }
	};
	struct edits out = { .v = v, .n = ARRAY_SIZE(v) };
	auto_fd dir = open(s->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	auto_edits in = { 0 };
	struct err e = ERR_INIT;

	assert_int_equal(edits_read(dir, &in, &e), -1);
	assert_int_equal(e.kind, ERR_NOTFOUND);
	assert_int_equal(edits_write(dir, &out, &e), 0);
	assert_int_equal(edits_read(dir, &in, &e), 0);
	assert_int_equal(in.n, out.n);
	for (size_t i = 0; i < in.n; i++) {
		assert_int_equal(in.v[i].kind, v[i].kind);
		assert_int_equal(in.v[i].kept, v[i].kept);
		assert_string_equal(in.v[i].path, v[i].path);
		assert_true(mark_same(&in.v[i].was, &v[i].was) && mark_same(&in.v[i].now, &v[i].now));
	}
	assert_int_equal(write_file(dir, "plan", "M 1 2", 6, 0600, &e), 0);
	auto_edits broken = { 0 };
	assert_int_equal(edits_read(dir, &broken, &e), -1);
}

static void test_life(void **state)
{
	(void)state;
	assert_true(life_allows(STATE_DONE, STATE_MERGED));
	assert_true(life_allows(STATE_CREATED, STATE_MERGED));
	assert_true(life_allows(STATE_MERGED, STATE_RUNNING));
	assert_true(life_allows(STATE_MERGED, STATE_DISCARDING));
	assert_false(life_allows(STATE_RUNNING, STATE_MERGED));
	assert_false(life_allows(STATE_DISCARDED, STATE_MERGED));
}

/* All tasks of the store. */
static struct overview *look(struct ground *g, int ms, struct task_list *ret)
{
	struct deadline by = deadline_in(ms);
	struct err e = ERR_INIT;
	struct overview *v;

	assert_int_equal(store_task_list(g->c.store, false, ret, &e), 0);
	v = xcalloc(ret->n + 1, sizeof(*v));
	overview_find(&g->c, ret, &by, v);
	return v;
}

/* Each task has the divergence that git tells of it alone. */
static void check_divergence(struct ground *g, const struct task_list *all, const struct overview *v)
{
	for (size_t i = 0; i < all->n; i++) {
		struct divergence d = { 0 };
		struct err e = ERR_INIT;

		assert_int_equal(merge_divergence(&g->c, &all->v[i], &d, &e), 0);
		assert_true(v[i].known);
		assert_int_equal(v[i].divergence.ahead, d.ahead);
		assert_int_equal(v[i].divergence.behind, d.behind);
		assert_string_equal(v[i].divergence.target, d.target);
	}
}

static void check_diff(const struct overview *v, size_t files, size_t insertions, size_t deletions)
{
	assert_true(v->diff_known);
	assert_int_equal(v->diff.files, files);
	assert_int_equal(v->diff.insertions, insertions);
	assert_int_equal(v->diff.deletions, deletions);
}

/* A list of tasks: all answers at once, also for a task that merged the target and for an old base; once more
 * without any object to look at; and again after the target has moved. */
static void test_overview(void **state)
{
	auto_str base = NULL, next = NULL, one = NULL, two = NULL, merged = NULL, moved = NULL, path = NULL,
		 away = NULL;
	auto_ground g;

	ground_open(&g, *state);
	base = commit(&g, NULL, "a", "0\n1\n");
	one = commit(&g, base, "a", "0\n2\n3\n");
	next = commit(&g, base, "b", "b\n");
	two = commit(&g, next, "c", "c\n");
	git(&g, NULL, "checkout", "-q", "--detach", one, NULL);
	git(&g, NULL, "merge", "-q", "-m", "from main", next, NULL);
	merged = commit(&g, "HEAD", "d", "d\n");
	git(&g, NULL, "branch", "-f", "main", next, NULL);
	add_task(&g, "one", base, one);
	add_task(&g, "two", next, two);
	add_task(&g, "merged", base, merged);
	add_task(&g, "idle", base, "");
	add_task(&g, "same", next, next);
	path = xasprintf("%s/objects", g.git_dir);
	away = xasprintf("%s/objects.away", g.git_dir);
	for (int i = 0; i < 3; i++) {
		auto_task_list all = { 0 };
		struct overview *v;

		if (i == 1) {
			assert_int_equal(rename(path, away), 0);
			assert_int_equal(mkdir(path, 0700), 0);
		} else if (i == 2) {
			assert_int_equal(rmdir(path), 0);
			assert_int_equal(rename(away, path), 0);
			moved = commit(&g, next, "e", "e\n");
			git(&g, NULL, "branch", "-f", "main", moved, NULL);
		}
		v = look(&g, 60000, &all);
		if (i != 1)
			check_divergence(&g, &all, v);
		assert_string_equal(v[0].subject, "a");
		assert_string_equal(v[1].subject, "c");
		assert_string_equal(v[2].subject, "d");
		assert_null(v[3].subject);
		assert_string_equal(v[4].subject, "b");
		check_diff(&v[0], 1, 2, 1);
		check_diff(&v[1], 1, 1, 0);
		check_diff(&v[2], 2, 3, 1);
		check_diff(&v[3], 0, 0, 0);
		check_diff(&v[4], 0, 0, 0);
		for (size_t k = 0; k < all.n; k++) {
			assert_true(v[k].compared);
			assert_int_equal(v[k].conflicts.n, 0);
		}
		overview_release(v, all.n);
	}
}

/* Conflicts of a list are those of each task; without time nothing is known, and nothing is made up. */
static void test_overview_conflicts(void **state)
{
	auto_str base = NULL, next = NULL, one = NULL, two = NULL, dir = NULL;
	auto_ground g;

	ground_open(&g, *state);
	base = commit(&g, NULL, "a", "0\n");
	next = commit(&g, base, "m", "1\n");
	one = commit(&g, base, "a", "1\n");
	two = commit(&g, base, "a", "2\n");
	dir = commit(&g, base, "m", "2\n");
	git(&g, NULL, "branch", "-f", "main", next, NULL);
	add_task(&g, "one", base, one);
	add_task(&g, "two", base, two);
	add_task(&g, "main-too", base, dir);
	for (int i = 0; i < 3; i++) {
		auto_task_list all = { 0 };
		struct overview *v = look(&g, i ? 60000 : 0, &all);

		assert_int_equal(v[0].known, i > 0);
		assert_int_equal(v[0].diff_known, i > 0);
		assert_int_equal(v[0].compared, i > 0);
		assert_int_equal(v[0].conflicts.n, i > 0);
		assert_int_equal(v[1].conflicts.n, i > 0);
		assert_int_equal(v[2].conflicts.n, i > 0);
		if (i) {
			assert_string_equal(v[0].conflicts.v[0].task, "two");
			assert_string_equal(v[1].conflicts.v[0].task, "one");
			assert_null(v[2].conflicts.v[0].task);
			assert_string_equal(v[2].conflicts.v[0].path, "m");
		}
		overview_release(v, all.n);
	}
}

/* Ranges that may conflict: the same path, a file in place of a directory, a moved directory, and what is not
 * known. */
static void test_touched(void **state)
{
	auto_str base = NULL, a = NULL, b = NULL, file = NULL, below = NULL, moved = NULL, kept = NULL,
		 path = NULL;
	struct deadline by = deadline_in(60000);
	auto_ground g;

	ground_open(&g, *state);
	base = commit(&g, NULL, "old", "0\n");
	a = commit(&g, base, "x", "1\n");
	b = commit(&g, base, "y", "2\n");
	file = commit(&g, base, "d", "3\n");
	git(&g, NULL, "checkout", "-q", "--detach", base, NULL);
	git(&g, NULL, "mv", "old", "new", NULL);
	moved = commit(&g, NULL, "z", "4\n");
	git(&g, NULL, "checkout", "-q", "--detach", base, NULL);
	kept = commit(&g, base, "old", "changed\n");
	path = xasprintf("%s/d", g.top);
	assert_int_equal(mkdir(path, 0700), 0);
	below = commit(&g, NULL, "d/e", "5\n");
	for (int i = 0; i < 2; i++) {
		const struct touched_range v[] = { { base, a }, { base, b }, { base, file }, { base, below },
			{ base, moved }, { base, kept }, { base, base }, { NULL, NULL } };
		struct repo *r = &g.repo;
		struct touched *t;

		repo_release(r);
		assert_int_equal(repo_open_git_dir(g.git_dir, g.top, 20, r, &(struct err){ 0 }), 0);
		t = touched_find(&g.c, r, v, ARRAY_SIZE(v), &by);
		assert_true(touched_may_conflict(&t[0], &t[0]));
		assert_false(touched_may_conflict(&t[0], &t[1]));
		assert_true(touched_may_conflict(&t[2], &t[3]));
		assert_true(touched_may_conflict(&t[3], &t[2]));
		assert_true(touched_may_conflict(&t[0], &t[4]));
		assert_true(touched_may_conflict(&t[5], &t[4]));
		assert_false(touched_may_conflict(&t[0], &t[5]));
		assert_false(touched_may_conflict(&t[6], &t[4]));
		assert_true(touched_may_conflict(&t[6], &t[7]));
		touched_release(t, ARRAY_SIZE(v));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		scratch_test(test_conflicts_between_tasks),
		scratch_test(test_overview),
		scratch_test(test_overview_conflicts),
		scratch_test(test_touched),
		scratch_test(test_conflicts_of_own_changes),
		scratch_test(test_divergence),
		scratch_test(test_rebase_leaves_merges_out),
		scratch_test(test_journal),
		scratch_test(test_plan),
		cmocka_unit_test(test_life),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
