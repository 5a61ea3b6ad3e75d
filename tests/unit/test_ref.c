/* G8: refs move with compare-and-swap, many times in one process of git. */
#include "gitrepo.h"

#include <signal.h>

#include "git/ref.h"

struct fixture {
	struct gitrepo g;
	char first[65], second[65];
};

static void make(void **state, struct fixture *f)
{
	gitrepo_make(*state, "repo", &f->g);
	snprintf(f->first, sizeof(f->first), "%s", git_in(&f->g, "rev-parse", "HEAD"));
	snprintf(f->second, sizeof(f->second), "%s",
		git_in(&f->g, "commit-tree", "-m", "second", "-p", f->first, "HEAD^{tree}"));
}

static void release(struct fixture *f)
{
	repo_release(&f->g.repo);
}

static void assert_ref(const struct fixture *f, const char *name, const char *want)
{
	struct err e = ERR_INIT;
	char out[65];

	assert_int_equal(ref_read(&f->g.repo, name, out, &e), 0);
	assert_string_equal(out, want);
}

static int move(struct ref_session *s, const char *name, const char *to, const char *from, struct err *e)
{
	auto_ref_txn t = REF_TXN_INIT;

	ref_move(&t, name, to, from);
	return ref_session_commit(s, &t, e);
}

static void a_ref_is_read_wherever_it_lies(void **state)
{
	struct fixture f;

	make(state, &f);
	assert_ref(&f, "refs/heads/main", f.first);
	assert_ref(&f, "HEAD", f.first);
	assert_ref(&f, "refs/heads/nothing", "");
	assert_ref(&f, "refs/heads", "");
	git_in(&f.g, "update-ref", "refs/heads/mainly", f.second);
	git_in(&f.g, "update-ref", "refs/heads/x/main", f.second);
	git_in(&f.g, "pack-refs", "--all");
	assert_false(there(((struct scratch *)*state)->fd, "repo/.git/refs/heads/main"));
	assert_ref(&f, "refs/heads/main", f.first);
	assert_ref(&f, "heads/main", "");
	assert_ref(&f, "refs/heads/mainly", f.second);
	/* a newer file wins over the packed value */
	git_in(&f.g, "update-ref", "refs/heads/main", f.second);
	assert_ref(&f, "refs/heads/main", f.second);
	release(&f);
}

/* Long files are read in part: the first ref, the last one, and those at each place in between are found. */
static void one_of_many_packed_refs_is_found(void **state)
{
	struct scratch *s = *state;
	auto_buf text = BUF_INIT(16 << 20);
	struct fixture f;
	char name[64];

	make(state, &f);
	for (int sorted = 1; sorted >= 0; sorted--) {
		auto_buf list = BUF_SMALL;
		struct err e = ERR_INIT;

		buf_reset(&text);
		buf_printf(&text, "# pack-refs with: peeled fully-peeled%s \n", sorted ? " sorted" : "");
		for (int i = 0; i < 6000; i++)
			buf_printf(&text, "%s refs/tags/v%05d\n^%s\n", i % 7 ? f.first : f.second, 2 * i,
				f.first);
		buf_printf(&text, "%s refs/zeta/a\n%s refs/zeta/b\n", f.second, f.first);
		put(s->fd, "repo/.git/packed-refs", text.data);
		for (int i = 0; i < 6000; i += i < 100 || i > 5900 ? 1 : 61) {
			snprintf(name, sizeof(name), "refs/tags/v%05d", 2 * i);
			assert_ref(&f, name, i % 7 ? f.first : f.second);
			snprintf(name, sizeof(name), "refs/tags/v%05d", 2 * i + 1);
			assert_ref(&f, name, "");
		}
		assert_ref(&f, "refs/a", "");
		assert_ref(&f, "refs/zeta/a", f.second);
		assert_ref(&f, "refs/zeta/b", f.first);
		assert_ref(&f, "refs/zeta/c", "");
		/* prefixes: none, and some */
		assert_int_equal(ref_list(&f.g.repo, "refs/none/", &list, &e), 0);
		assert_int_equal(list.len, 0);
		assert_int_equal(ref_list(&f.g.repo, "refs/zeta/", &list, &e), 0);
		assert_int_equal(list.len, 2 * (40 + strlen(" refs/zeta/a\n")));
	}
	release(&f);
}

static void broken_refs_are_no_answer(void **state)
{
	struct scratch *s = *state;
	struct err e = ERR_INIT;
	struct fixture f;
	char out[65];

	make(state, &f);
	put(s->fd, "repo/.git/refs/heads/odd", "1234\n");
	assert_int_equal(ref_read(&f.g.repo, "refs/heads/odd", out, &e), -1);
	put(s->fd, "repo/.git/refs/heads/loop", "ref: refs/heads/loop\n");
	assert_int_equal(ref_read(&f.g.repo, "refs/heads/loop", out, &e), -1);
	release(&f);
}

static void moves_only_from_the_expected_value(void **state)
{
	struct ref_session *s;
	struct err e = ERR_INIT;
	struct fixture f;

	make(state, &f);
	assert_int_equal(ref_session_open(&f.g.repo, &s, &e), 0);
	assert_int_equal(move(s, "refs/heads/main", f.second, f.first, &e), 0);
	assert_ref(&f, "refs/heads/main", f.second);
	assert_int_equal(move(s, "refs/heads/main", f.second, f.first, &e), -1);
	assert_int_equal(e.kind, ERR_CONFLICT);
	assert_int_equal(move(s, "refs/heads/none", f.second, f.first, &e), -1);
	assert_int_equal(e.kind, ERR_CONFLICT);
	/* a commit that is not there is no conflict */
	assert_int_equal(
		move(s, "refs/heads/main", "1234567890123456789012345678901234567890", f.second, &e), -1);
	assert_int_equal(e.kind, ERR_FAILED);
	assert_ref(&f, "refs/heads/main", f.second);
	assert_int_equal(move(s, "refs/heads/main", f.first, f.second, &e), 0);
	assert_ref(&f, "refs/heads/main", f.first);
	ref_session_close(s);
	release(&f);
}

static void all_of_a_transaction_or_nothing(void **state)
{
	struct ref_session *s;
	auto_ref_txn t = REF_TXN_INIT;
	struct err e = ERR_INIT;
	struct fixture f;

	make(state, &f);
	assert_int_equal(ref_session_open(&f.g.repo, &s, &e), 0);
	ref_create(&t, "refs/garth/snapshots/1/1", f.first);
	ref_move(&t, "refs/heads/main", f.second, f.second);
	assert_int_equal(ref_session_commit(s, &t, &e), -1);
	assert_int_equal(e.kind, ERR_CONFLICT);
	assert_ref(&f, "refs/garth/snapshots/1/1", "");
	buf_reset(&t.text);
	ref_create(&t, "refs/garth/snapshots/1/1", f.first);
	ref_move(&t, "refs/heads/main", f.second, f.first);
	assert_int_equal(ref_session_commit(s, &t, &e), 0);
	assert_ref(&f, "refs/garth/snapshots/1/1", f.first);
	buf_reset(&t.text);
	ref_create(&t, "refs/garth/snapshots/1/1", f.first);
	assert_int_equal(ref_session_commit(s, &t, &e), -1);
	assert_int_equal(e.kind, ERR_CONFLICT);
	ref_session_close(s);
	assert_int_equal(ref_commit(&f.g.repo, &t, &e), -1);
	assert_int_equal(e.kind, ERR_EXISTS);
	release(&f);
}

/* The pid of the one child that this process has. */
static pid_t child(void)
{
	auto_str path = xasprintf("/proc/self/task/%d/children", (int)getpid());
	auto_buf text = BUF_SMALL;
	struct err e = ERR_INIT;

	assert_int_equal(read_file(AT_FDCWD, path, &text, &e), 0);
	return (pid_t)strtol(buf_str(&text), NULL, 10);
}

static void one_process_moves_a_hundred_times(void **state)
{
	struct ref_session *s;
	struct err e = ERR_INIT;
	struct fixture f;
	pid_t pid;

	make(state, &f);
	assert_int_equal(ref_session_open(&f.g.repo, &s, &e), 0);
	pid = child();
	assert_true(pid > 0);
	for (int i = 0; i < 100; i++) {
		const char *from = i % 2 ? f.second : f.first, *to = i % 2 ? f.first : f.second;

		assert_int_equal(move(s, "refs/heads/main", to, from, &e), 0);
		/* the user's own gc meanwhile */
		if (i == 50)
			git_in(&f.g, "pack-refs", "--all", "--prune");
	}
	assert_int_equal(child(), pid);
	assert_ref(&f, "refs/heads/main", f.first);
	ref_session_close(s);
	assert_int_equal(child(), 0);
	release(&f);
}

static void a_session_that_dies_comes_back(void **state)
{
	struct ref_session *s;
	struct err e = ERR_INIT;
	struct fixture f;
	pid_t pid;

	make(state, &f);
	assert_int_equal(ref_session_open(&f.g.repo, &s, &e), 0);
	pid = child();
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitid(P_PID, (id_t)pid, &(siginfo_t){ 0 }, WEXITED | WNOWAIT), 0);
	assert_int_equal(move(s, "refs/heads/main", f.second, f.first, &e), 0);
	assert_ref(&f, "refs/heads/main", f.second);
	assert_int_not_equal(child(), pid);
	ref_session_close(s);
	release(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		scratch_test(a_ref_is_read_wherever_it_lies),
		scratch_test(one_of_many_packed_refs_is_found),
		scratch_test(broken_refs_are_no_answer),
		scratch_test(moves_only_from_the_expected_value),
		scratch_test(all_of_a_transaction_or_nothing),
		scratch_test(one_process_moves_a_hundred_times),
		scratch_test(a_session_that_dies_comes_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
