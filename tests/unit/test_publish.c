/* G1, G5, G8: publishing from end to end, with an inside that has no jail and a verifier that has one. */
#include "gitrepo.h"
#include "fake_inside.h"

#include <dirent.h>

#include "publish/publish.h"
#include "task/life.h"

/* The shared repository, a task on it, and the task's private repository as the agent has it. */
struct fixture {
	struct scratch *s;
	struct gitrepo shared, own;
	struct fake_inside in;
	char env[256];
	struct inside task;
	struct publisher pub;
	struct refusal no;
	struct publish_result r;
	struct err e;
};

/* This inside has no jail, so the shared objects are where the host has them. */
static void borrow_outside(struct fixture *f)
{
	auto_str list = xasprintf("%s/objects/info/alternates", f->own.dir),
		 objects = xasprintf("%s/objects\n", f->shared.dir);

	if (write_file(AT_FDCWD, list, objects, strlen(objects), 0644, &f->e) < 0)
		fail_msg("%s", f->e.msg);
}

static void make_task(struct fixture *f, const char *name)
{
	struct task_spec spec = { .dir = f->shared.top, .name = name, .backend = "worktree" };
	auto_task t = { 0 };
	struct context c;

	if (context_open(&c, &f->e) < 0 || task_create(&c, &spec, &t, &f->e) < 0)
		fail_msg("%s", f->e.msg);
	snprintf(f->own.top, sizeof(f->own.top), "%s", t.workspace);
	snprintf(f->own.dir, sizeof(f->own.dir), "%s/tasks/%lld/git", c.home.path, (long long)t.id);
	snprintf(f->env, sizeof(f->env), "GIT_DIR=%s", f->own.dir);
	borrow_outside(f);
	context_close(&c);
}

static int64_t id_of(struct fixture *f, const char *name)
{
	auto_context c = { .home.fd = -1 };
	auto_task t = { 0 };

	if (context_open(&c, &f->e) < 0 || context_store(&c, &f->e) < 0 ||
		store_task_by_name(c.store, 1, name, &t, &f->e) < 0)
		fail_msg("%s", f->e.msg);
	return t.id;
}

static void open_task_of(struct fixture *f, const char *task)
{
	f->in.env = f->env;
	inside_start(&f->in);
	f->pub = (struct publisher)PUBLISHER_INIT(&f->task);
	if (inside_open(&f->task, id_of(f, task), f->in.orders, &f->e) < 0)
		fail_msg("%s", f->e.msg);
}

static void open_task(struct fixture *f)
{
	open_task_of(f, "fix");
}

static void close_task(struct fixture *f)
{
	publisher_close(&f->pub);
	inside_close(&f->task);
	inside_end(&f->in);
}

static void make(void **state, struct fixture *f)
{
	auto_str home = NULL;

	*f = (struct fixture){ .s = *state };
	home = xasprintf("%s/home", f->s->path);
	assert_int_equal(mkdir(home, 0755), 0);
	setenv("HOME", home, 1);
	unsetenv("GARTH_HOME");
	unsetenv("XDG_CONFIG_HOME");
	unsetenv("GARTH_CONFIG");
	gitrepo_make(f->s, "shared", &f->shared);
	make_task(f, "fix");
	open_task(f);
}

static void release(struct fixture *f)
{
	assert_fsck_clean(&f->shared);
	close_task(f);
	repo_release(&f->shared.repo);
}

static void write_in(const struct gitrepo *g, const char *path, const char *text)
{
	auto_fd top = open(g->top, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	auto_str dir = xstrndup(path, strrchr(path, '/') ? (size_t)(strrchr(path, '/') - path) : 0);
	auto_fd made = *dir ? mkdirs_beneath(top, dir, 0755, (uid_t)-1, (gid_t)-1) : -1;

	assert_true(!*dir || made >= 0);
	put(top, path, text);
}

/* The agent's next commit. */
static const char *commit_in(const struct gitrepo *g, const char *path, const char *text)
{
	static char oid[4][65];
	static unsigned next;
	char *ret = oid[next++ % 4];

	write_in(g, path, text);
	git_in(g, "add", "-A", "--", path);
	git_in(g, "commit", "-q", "-m", "work");
	snprintf(ret, 65, "%s", git_in(g, "rev-parse", "HEAD"));
	return ret;
}

static int publish_it(struct fixture *f, const char *tip)
{
	return publish(&f->pub, tip, "test", &f->r, &f->no, &f->e);
}

static void assert_published(struct fixture *f, const char *tip)
{
	if (publish_it(f, tip) < 0)
		fail_msg("%s: %s", f->no.code, f->e.msg);
	assert_string_equal(f->r.tip, tip);
	assert_string_equal(git_in(&f->shared, "rev-parse", "refs/heads/garth/fix"), tip);
	assert_string_equal(f->task.task.published, tip);
}

static size_t count_objects(const struct fixture *f)
{
	return (size_t)strtoul(git_in(&f->shared, "count-objects"), NULL, 10);
}

static bool quarantine_is_empty(struct fixture *f)
{
	struct quarantine *q = &f->pub.verifier.at;

	publish_tidy(&f->pub);
	return !f->pub.has_verifier || (!quarantine_scan(q, &f->e) && !q->loose.n && !q->packs.n);
}

static int look(const char *line, size_t len, void *arg, struct err *e)
{
	(void)e;
	snprintf(arg, 2048, "%.*s", (int)len, line);
	return 0;
}

/* The audit log's newest line has all of these. */
static void assert_audit(const struct fixture *f, const char *event, const char *detail)
{
	auto_str want = xasprintf("\"event\":\"%s\"", event);
	struct err e = ERR_INIT;
	char line[2048] = "";
	uint64_t at = 0;

	assert_int_equal(audit_read(f->task.context.home.fd, &at, look, line, &e), 0);
	if (!strstr(line, want) || !strstr(line, detail))
		fail_msg("%s %s: %s", event, detail, line);
}

/* Refused for that reason, recorded, and the shared repository is as it was. */
static void assert_refused(struct fixture *f, const char *tip, const char *code)
{
	auto_str before = xstrdup(git_in(&f->shared, "rev-parse", "refs/heads/garth/fix"));
	auto_str detail = xasprintf("\"code\":\"%s\"", code);
	size_t objects = count_objects(f);

	assert_int_equal(publish_it(f, tip), -1);
	if (strcmp(f->no.code, code))
		fail_msg("%s and not %s: %s", f->no.code, code, f->e.msg);
	assert_int_equal(f->e.kind, ERR_REFUSED);
	assert_string_equal(git_in(&f->shared, "rev-parse", "refs/heads/garth/fix"), before);
	assert_int_equal(count_objects(f), objects);
	assert_true(quarantine_is_empty(f));
	assert_audit(f, "refused", detail);
}

static void good_commits_are_published(void **state)
{
	auto_str first = NULL, second = NULL;
	auto_task stored = { 0 };
	struct fixture f;
	char tip[65];

	make(state, &f);
	assert_int_equal(publish_find_tip(&f.task, tip, &f.e), 0);
	assert_string_equal(tip, f.task.task.base);
	assert_int_equal(publish_it(&f, tip), 0);
	assert_string_equal(f.r.old, tip);
	first = xstrdup(commit_in(&f.own, "new", "text\n"));
	assert_published(&f, first);
	assert_string_equal(f.r.old, f.task.task.base);
	assert_int_equal(f.r.commits, 1);
	assert_false(f.r.rewrote);
	assert_audit(&f, "publish", first);
	assert_true(quarantine_is_empty(&f));
	/* publishing nothing is no event */
	assert_published(&f, first);
	assert_int_equal(f.r.commits, 0);
	commit_in(&f.own, "d/deep/er", "text\n");
	second = xstrdup(commit_in(&f.own, "a", "changed\n"));
	assert_int_equal(publish_find_tip(&f.task, tip, &f.e), 0);
	assert_string_equal(tip, second);
	assert_published(&f, tip);
	assert_int_equal(f.r.commits, 2);
	assert_int_equal(store_task_by_id(f.task.context.store, f.task.task.id, &stored, &f.e), 0);
	assert_string_equal(stored.published, second);
	assert_int_equal(stored.commits, 3);
	release(&f);
}

static void many_files_are_published(void **state)
{
	struct fixture f;
	auto_str tip = NULL;

	make(state, &f);
	for (unsigned i = 0; i < 200; i++) {
		auto_str name = xasprintf("many/f%u", i), text = xasprintf("%u\n", i);

		write_in(&f.own, name, text);
	}
	tip = xstrdup(commit_in(&f.own, "many/last", "text\n"));
	assert_published(&f, tip);
	assert_true(quarantine_is_empty(&f));
	assert_published(&f, commit_in(&f.own, "many/f7", "changed\n"));
	release(&f);
}

static void a_protected_path_needs_the_users_word(void **state)
{
	struct fixture f;
	auto_str tip = NULL;

	make(state, &f);
	tip = xstrdup(commit_in(&f.own, ".github/workflows/run.yml", "on: push\n"));
	assert_refused(&f, tip, "protected_path");
	assert_string_equal(f.no.path, ".github/workflows/run.yml");
	/* a second commit that takes it away again leaves it in the history */
	git_in(&f.own, "rm", "-q", "-r", ".github");
	tip = (free(tip), xstrdup(commit_in(&f.own, "fine", "text\n")));
	assert_refused(&f, tip, "protected_path");
	git_in(&f.own, "reset", "-q", "--soft", "HEAD~2");
	tip = (free(tip), xstrdup(commit_in(&f.own, "fine", "text again\n")));
	assert_published(&f, tip);
	tip = (free(tip), xstrdup(commit_in(&f.own, ".github/workflows/run.yml", "on: push\n")));
	assert_refused(&f, tip, "protected_path");
	assert_int_equal(store_allow(f.task.context.store, f.task.task.id, ".github/workflows/**", &f.e), 0);
	assert_published(&f, tip);
	release(&f);
}

static void a_rewritten_tip_is_kept(void **state)
{
	auto_snapshot snap = { 0 };
	auto_str one = NULL, two = NULL;
	struct fixture f;

	make(state, &f);
	one = xstrdup(commit_in(&f.own, "new", "text\n"));
	assert_published(&f, one);
	git_in(&f.own, "commit", "-q", "--amend", "-m", "better");
	two = xstrdup(git_in(&f.own, "rev-parse", "HEAD"));
	assert_published(&f, two);
	assert_true(f.r.rewrote);
	/* number 1 is the task's start */
	assert_int_equal(store_snapshot(f.task.context.store, f.task.task.id, 2, &snap, &f.e), 0);
	assert_string_equal(snap.commit, one);
	assert_string_equal(snap.reason, "rewrite");
	auto_str ref = xasprintf("refs/garth/tasks/%lld/kept^@", (long long)f.task.task.id);
	assert_string_equal(git_in(&f.shared, "rev-parse", ref), one);
	/* back to the kept one, which nothing but the snapshot names */
	assert_published(&f, one);
	assert_true(f.r.rewrote);
	/* and back to where the task began */
	assert_published(&f, f.task.task.base);
	assert_true(f.r.rewrote);
	assert_int_equal(f.r.commits, 0);
	release(&f);
}

static void rewriting_can_be_refused(void **state)
{
	struct fixture f;
	auto_str one = NULL;

	make(state, &f);
	one = xstrdup(commit_in(&f.own, "new", "text\n"));
	assert_published(&f, one);
	free(f.task.context.config.policy.rewrite);
	f.task.context.config.policy.rewrite = xstrdup("refuse");
	git_in(&f.own, "commit", "-q", "--amend", "-m", "better");
	assert_refused(&f, git_in(&f.own, "rev-parse", "HEAD"), "rewrite");
	assert_refused(&f, f.task.task.base, "rewrite");
	git_in(&f.own, "reset", "-q", "--hard", one);
	assert_published(&f, commit_in(&f.own, "more", "text\n"));
	release(&f);
}

static void what_was_moved_outside_is_not_overwritten(void **state)
{
	struct fixture f;
	auto_str one = NULL, theirs = NULL, mine = NULL;

	make(state, &f);
	one = xstrdup(commit_in(&f.own, "new", "text\n"));
	assert_published(&f, one);
	theirs = xstrdup(git_in(
		&f.shared, "commit-tree", "-m", "the user's", "-p", one, "refs/heads/garth/fix^{tree}"));
	git_in(&f.shared, "update-ref", "refs/heads/garth/fix", theirs);
	mine = xstrdup(commit_in(&f.own, "more", "text\n"));
	assert_refused(&f, mine, "moved_outside");
	assert_non_null(strstr(f.no.instead, theirs));
	/* the advice helps */
	git_in(&f.own, "merge", "-q", "--no-edit", theirs);
	assert_published(&f, git_in(&f.own, "rev-parse", "HEAD"));
	git_in(&f.shared, "update-ref", "-d", "refs/heads/garth/fix");
	assert_int_equal(publish_it(&f, mine), -1);
	assert_string_equal(f.no.code, "moved_outside");
	release(&f);
}

/* Other tasks' commits are in the shared repository, and anybody who knows an id can name it. */
static void others_history_is_unknown(void **state)
{
	struct fixture f;
	auto_str theirs = NULL, mine = NULL, path = NULL, script = NULL;
	auto_buf in = BUF_SMALL, pack = BUF_INIT(1 << 20);
	auto_strvec args = STRVEC_INIT;
	struct git git;

	make(state, &f);
	theirs = xstrdup(
		git_in(&f.shared, "commit-tree", "-m", "another task's", "-p", "HEAD", "HEAD^{tree}"));
	git_in(&f.shared, "update-ref", "refs/heads/garth/other", theirs);
	/* a commit on top of it, sent without it: what is not sent is not checked */
	mine = xstrdup(git_in(&f.own, "commit-tree", "-m", "mine", "-p", theirs, "HEAD^{tree}"));
	git = (struct git){ .dir = f.own.dir };
	buf_printf(&in, "%s\n", mine);
	strvec_pushl(&args, "pack-objects", "--stdout", "-q", NULL);
	assert_int_equal(git_run(&git, &args, &in, &pack, &f.e), 0);
	path = xasprintf("%s/hostile.pack", f.s->path);
	assert_int_equal(write_file(AT_FDCWD, path, pack.data, pack.len, 0644, &f.e), 0);
	close_task(&f);
	script = xasprintf("cat '%s'", path);
	f.in.script = script;
	open_task(&f);
	assert_refused(&f, mine, "unknown_history");
	/* the tip itself, with nothing sent */
	close_task(&f);
	f.in.script = "printf 'PACK\\0\\0\\0\\2\\0\\0\\0\\0'";
	open_task(&f);
	assert_refused(&f, theirs, "unknown_history");
	release(&f);
}

static void what_the_inside_sends_is_a_claim(void **state)
{
	static const struct {
		const char *script, *code;
	} cases[] = {
		{ "echo 'no such thing' >&2; exit 128", "cannot_pack" },
		{ "exit 0", "cannot_pack" },
		{ "echo this is not a pack at all", "bad_objects" },
		{ "printf 'PACK\\0\\0\\0\\2\\0\\0\\0\\1'; cat /dev/zero", "bad_objects" },
		{ "printf 'PACK\\0\\0\\0\\2\\0\\0\\0\\0'", "incomplete" },
	};
	struct fixture f;
	auto_str tip = NULL;

	make(state, &f);
	tip = xstrdup(commit_in(&f.own, "new", "text\n"));
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		close_task(&f);
		f.in.script = cases[i].script;
		open_task(&f);
		assert_refused(&f, tip, cases[i].code);
	}
	close_task(&f);
	f.in.script = NULL;
	open_task(&f);
	assert_refused(&f, "HEAD", "bad_tip");
	assert_refused(&f, "--all", "bad_tip");
	assert_refused(&f, "1234567890123456789012345678901234567890", "cannot_pack");
	assert_refused(&f, git_in(&f.shared, "rev-parse", "HEAD^{tree}"), "bad_tip");
	assert_published(&f, tip);
	release(&f);
}

static void every_so_often_a_snapshot(void **state)
{
	auto_snapshot_list l = { 0 };
	struct fixture f;
	auto_str two = NULL;

	make(state, &f);
	f.task.context.config.snapshot_every = 2;
	assert_published(&f, commit_in(&f.own, "n1", "1\n"));
	two = xstrdup(commit_in(&f.own, "n2", "2\n"));
	assert_published(&f, two);
	assert_published(&f, commit_in(&f.own, "n3", "3\n"));
	assert_int_equal(store_snapshot_list(f.task.context.store, f.task.task.id, &l, &f.e), 0);
	assert_int_equal(l.n, 2);
	assert_string_equal(l.v[1].commit, two);
	assert_string_equal(l.v[1].reason, "every");
	assert_int_equal(l.v[1].commits, 2);
	release(&f);
}

static void a_verifier_that_died_is_replaced(void **state)
{
	struct fixture f;

	make(state, &f);
	assert_published(&f, commit_in(&f.own, "n1", "1\n"));
	kill(f.pub.verifier.first, SIGKILL);
	assert_int_equal(waitid(P_PID, (id_t)f.pub.verifier.first, &(siginfo_t){ 0 }, WEXITED | WNOWAIT), 0);
	assert_published(&f, commit_in(&f.own, "n2", "2\n"));
	release(&f);
}

#define TASKS   4
#define COMMITS 6

/* One task's commits, in its own process; writes the last one's id to a file. */
static void __attribute__((noreturn)) publish_some(struct fixture *f, const char *task)
{
	const char *tip = "";

	open_task_of(f, task);
	for (int i = 0; i < COMMITS; i++) {
		auto_str text = xasprintf("%s %d\n", task, i);

		tip = commit_in(&f->own, "shared-name", text);
		if (publish_it(f, tip) < 0)
			_exit(1);
	}
	put(f->s->fd, task, tip);
	close_task(f);
	_exit(0);
}

static void many_tasks_publish_at_once(void **state)
{
	char names[TASKS][16];
	pid_t pids[TASKS];
	struct fixture f;
	uint64_t lines;
	int status;

	make(state, &f);
	for (int i = 0; i < TASKS; i++) {
		struct fixture one = f;

		snprintf(names[i], sizeof(names[i]), "task%d", i);
		make_task(&one, names[i]);
		pids[i] = fork();
		if (!pids[i])
			publish_some(&one, names[i]);
	}
	for (int i = 0; i < TASKS; i++) {
		assert_int_equal(waitpid(pids[i], &status, 0), pids[i]);
		assert_int_equal(status, 0);
	}
	for (int i = 0; i < TASKS; i++) {
		auto_str ref = xasprintf("refs/heads/garth/%s", names[i]), range = xasprintf("main..%s", ref);
		auto_task t = { 0 };

		assert_content(f.s->fd, names[i], git_in(&f.shared, "rev-parse", ref));
		assert_string_equal(git_in(&f.shared, "rev-list", "--count", range), "6");
		assert_int_equal(store_task_by_name(f.task.context.store, 1, names[i], &t, &f.e), 0);
		assert_int_equal(t.commits, COMMITS);
	}
	assert_int_equal(audit_verify(f.task.context.home.fd, f.task.context.store, &lines, &f.e), 0);
	assert_true(lines >= TASKS * COMMITS);
	release(&f);
}

#ifdef GARTH_FAULT_INJECTION
/* Killed at every step: what is left is clean, and the next gateway finds the branch and continues. */
static void a_crash_at_any_step_is_repaired(void **state)
{
	static const char *const steps[] = { "publish-taken", "publish-checked", "publish-recorded",
		"publish-kept", "publish-moved", "publish-stored" };
	struct fixture f;

	make(state, &f);
	assert_published(&f, commit_in(&f.own, "start", "1\n"));
	for (size_t i = 0; i < 2 * ARRAY_SIZE(steps); i++) {
		auto_str name = xasprintf("n%zu", i), tip = NULL, ref = NULL;
		auto_snapshot_list l = { 0 };
		int status;
		pid_t pid;

		/* the second round rewrites, and so makes snapshots */
		if (i >= ARRAY_SIZE(steps))
			git_in(&f.own, "reset", "-q", "--hard", "HEAD~1");
		tip = xstrdup(commit_in(&f.own, name, "text\n"));
		close_task(&f);
		pid = fork();
		if (!pid) {
			setenv("GARTH_FAULT", steps[i % ARRAY_SIZE(steps)], 1);
			open_task(&f);
			f.task.context.config.snapshot_every = 0;
			publish_it(&f, tip);
			_exit(1);
		}
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_true(WIFSIGNALED(status));
		assert_fsck_clean(&f.shared);
		open_task(&f);
		f.task.context.config.snapshot_every = 0;
		ref = xstrdup(git_in(&f.shared, "rev-parse", "refs/heads/garth/fix"));
		assert_string_equal(f.task.task.published, ref);
		assert_published(&f, tip);
		/* everything with a row is kept */
		assert_int_equal(store_snapshot_list(f.task.context.store, f.task.task.id, &l, &f.e), 0);
		for (size_t n = 1; n < l.n; n++) {
			auto_str kept = xasprintf("refs/garth/tasks/%lld/kept", (long long)f.task.task.id);

			assert_string_equal(
				git_in(&f.shared, "merge-base", l.v[n].commit, kept), l.v[n].commit);
		}
		assert_int_equal(l.n, i < ARRAY_SIZE(steps) ? 1 : i - ARRAY_SIZE(steps) + 2);
	}
	release(&f);
}
#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
		scratch_test(good_commits_are_published),
		scratch_test(many_files_are_published),
		scratch_test(a_protected_path_needs_the_users_word),
		scratch_test(a_rewritten_tip_is_kept),
		scratch_test(rewriting_can_be_refused),
		scratch_test(what_was_moved_outside_is_not_overwritten),
		scratch_test(others_history_is_unknown),
		scratch_test(what_the_inside_sends_is_a_claim),
		scratch_test(every_so_often_a_snapshot),
		scratch_test(a_verifier_that_died_is_replaced),
		scratch_test(many_tasks_publish_at_once),
#ifdef GARTH_FAULT_INJECTION
		scratch_test(a_crash_at_any_step_is_repaired),
#endif
	};

	signal(SIGPIPE, SIG_IGN);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
