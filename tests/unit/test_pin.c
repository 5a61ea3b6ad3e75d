/* One ref keeps many commits. */
#include "gitrepo.h"

#include "git/pin.h"

struct fixture {
	struct gitrepo g;
	char base[65], one[65], two[65], other[65]; /* one on the base, two on one, other on the base */
	struct strvec tips, held;
	struct pin p;
	struct err e;
};

static void add_commit(struct fixture *f, const char *parent, const char *message, char out[65])
{
	snprintf(out, 65, "%s", git_in(&f->g, "commit-tree", "-m", message, "-p", parent, "HEAD^{tree}"));
}

static void make(void **state, const char *name, struct fixture *f)
{
	*f = (struct fixture){ .p = PIN_INIT, .e = ERR_INIT };
	gitrepo_make(*state, name, &f->g);
	snprintf(f->base, sizeof(f->base), "%s", git_in(&f->g, "rev-parse", "HEAD"));
	add_commit(f, f->base, "one", f->one);
	add_commit(f, f->one, "two", f->two);
	add_commit(f, f->base, "other", f->other);
}

static void release(struct fixture *f)
{
	repo_release(&f->g.repo);
	strvec_release(&f->tips);
	strvec_release(&f->held);
	pin_release(&f->p);
}

static void assert_chosen(struct fixture *f, const char *a, const char *b)
{
	assert_int_equal(pin_choose(&f->g.repo, &f->tips, &f->held, &f->p, &f->e), 0);
	assert_int_equal(f->p.commits.n, (a != NULL) + (b != NULL));
	if (a)
		assert_true(strvec_has(&f->p.commits, a));
	if (b)
		assert_true(strvec_has(&f->p.commits, b));
}

static void only_what_no_other_reaches(void **state)
{
	struct fixture f;

	make(state, "repo", &f);
	strvec_pushl(&f.tips, f.one, f.two, f.two, f.other, NULL);
	strvec_push(&f.held, f.base);
	assert_chosen(&f, f.two, f.other);
	release(&f);
}

static void what_is_held_stays_where_nothing_stands_on_it(void **state)
{
	struct fixture f;

	make(state, "repo", &f);
	strvec_push(&f.tips, f.one);
	strvec_pushl(&f.held, f.base, f.other, NULL);
	assert_chosen(&f, f.one, f.other);
	release(&f);
	make(state, "second", &f);
	/* an ancestor of a kept commit is reached by it */
	strvec_push(&f.tips, f.one);
	strvec_push(&f.held, f.two);
	assert_chosen(&f, f.two, NULL);
	release(&f);
}

static void what_is_not_there_is_left_out(void **state)
{
	static const char missing[] = "1111111111111111111111111111111111111111";
	struct fixture f;

	make(state, "repo", &f);
	strvec_pushl(&f.tips, missing, f.one, NULL);
	strvec_push(&f.held, missing);
	assert_chosen(&f, f.one, NULL);
	release(&f);
	make(state, "second", &f);
	assert_chosen(&f, NULL, NULL);
	release(&f);
}

static void the_same_commits_make_the_same_pin(void **state)
{
	auto_strvec parents = STRVEC_INIT;
	struct ref_txn txn = REF_TXN_INIT;
	char oid[65], again[65];
	auto_str keep = NULL;
	struct fixture f;

	make(state, "repo", &f);
	strvec_pushl(&f.tips, f.two, f.other, NULL);
	strvec_push(&f.held, f.base);
	assert_chosen(&f, f.two, f.other);
	assert_int_equal(pin_name(&f.g.repo, &f.p, "why\n", oid, &f.e), 0);
	assert_int_equal(pin_read(&f.g.repo, oid, &parents, &f.e), -1);
	f.e = (struct err)ERR_INIT;
	assert_int_equal(pin_write(&f.g.repo, &f.p, "why\n", &txn, &f.e), 0);
	assert_int_equal(pin_name(&f.g.repo, &f.p, "why\n", again, &f.e), 0);
	assert_string_equal(oid, again);
	/* until its ref is there, the user's gc leaves it alone */
	git_in(&f.g, "update-ref", "refs/x/two", f.two);
	git_in(&f.g, "update-ref", "refs/x/other", f.other);
	git_in(&f.g, "gc", "-q", "--prune=now");
	git_in(&f.g, "cat-file", "-e", oid);
	assert_int_equal(txn.held.n, 1);
	assert_int_equal(access(txn.held.v[0], F_OK), 0);
	assert_int_equal(pin_read(&f.g.repo, oid, &parents, &f.e), 0);
	assert_int_equal(parents.n, 2);
	assert_string_equal(git_in(&f.g, "log", "-1", "--format=%s", oid), "why");
	ref_set(&txn, "refs/x/kept", oid);
	keep = xstrdup(txn.held.v[0]);
	assert_int_equal(ref_commit(&f.g.repo, &txn, &f.e), 0);
	ref_release(&txn);
	assert_int_equal(access(keep, F_OK), -1);
	git_in(&f.g, "update-ref", "-d", "refs/x/two");
	git_in(&f.g, "update-ref", "-d", "refs/x/other");
	git_in(&f.g, "gc", "-q", "--prune=now");
	git_in(&f.g, "fsck", "--strict");
	git_in(&f.g, "cat-file", "-e", f.two);
	git_in(&f.g, "cat-file", "-e", f.other);
	release(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		scratch_test(only_what_no_other_reaches),
		scratch_test(what_is_held_stays_where_nothing_stands_on_it),
		scratch_test(what_is_not_there_is_left_out),
		scratch_test(the_same_commits_make_the_same_pin),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
