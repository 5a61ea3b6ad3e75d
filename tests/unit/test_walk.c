#include "walked.h"

static void plain(void **state, unsigned hash_len)
{
	struct fixture f;

	fixture_open(&f, state, hash_len);
	assert_good(&f,
		look(&f, "echo new >dir/new; echo x >>a; chmod +x docs/d; git rm -q dir/sub/c; git add -A;"
			 "git commit -qm one; echo y >>a; git commit -qam two; git rev-parse HEAD"));
	assert_int_equal(f.r.commits, 2);
	assert_int_equal(f.r.files, 1);
	/* files, and the commits and trees that came with them */
	assert_true(f.r.bytes > 4 + 4 + 6);
	assert_int_equal(f.r.stops.n, 1);
	assert_string_equal(f.r.stops.v[0], f.base);
	assert_false(f.r.doubt);
	assert_int_equal(f.r.paths.n, 4);
	assert_string_equal(f.r.paths.v[0], "M a");
	assert_string_equal(f.r.paths.v[1], "A dir/new");
	assert_string_equal(f.r.paths.v[2], "D dir/sub/c");
	assert_string_equal(f.r.paths.v[3], "M docs/d");
	fixture_close(&f);
}

static void test_plain(void **state)
{
	plain(state, 20);
}

static void test_sha256(void **state)
{
	plain(state, 32);
}

/* a tip that exists already: no commits, but policy still applies */
static void test_known_tip(void **state)
{
	struct fixture f;

	fixture_open(&f, state, 20);
	assert_good(&f, look(&f, "git rev-parse HEAD"));
	assert_int_equal(f.r.commits, 0);
	assert_string_equal(f.r.stops.v[0], f.base);
	assert_int_equal(f.r.paths.n, 0);
	run(f.s, "echo x >>CODEOWNERS; git commit -qam x");
	fixture_known(&f);
	assert_no(&f, look(&f, "git rev-parse HEAD"), "protected_path", "CODEOWNERS");
	/* the counts are from before: nothing is added */
	f.before = 1000;
	assert_good(&f, look(&f, "git rev-parse HEAD^"));
	fixture_close(&f);
}

/* G5: changes from the target are not the task's, but what the task adds to them is */
static void test_merge_of_the_target(void **state)
{
	struct fixture f;

	fixture_open(&f, state, 20);
	run(f.s,
		"git checkout -q main; echo more >>CODEOWNERS; echo n >.github/workflows/new.yml; git rm -q docs/d;"
		"git add -A; git commit -qm theirs; git checkout -q task");
	fixture_known(&f);
	run(f.s, "echo mine >mine; git add -A; git commit -qm mine; git merge -q -m m main");
	assert_no(&f, look(&f, "git rev-parse HEAD"), "protected_path", ".github/workflows/new.yml");
	strvec_push(&f.compare, f.base);
	assert_no(&f, look(&f, "git rev-parse HEAD"), "protected_path", NULL);
	{
		auto_str target = sh(f.s, "git rev-parse main");

		strvec_push(&f.compare, target);
	}
	assert_good(&f, look(&f, "git rev-parse HEAD"));
	assert_int_equal(f.r.commits, 2);
	assert_int_equal(f.r.stops.n, 2);
	assert_int_equal(f.r.paths.n, 1);
	assert_string_equal(f.r.paths.v[0], "A mine");
	assert_false(f.r.doubt);
	assert_no(&f,
		look(&f, "echo evil >>.github/workflows/new.yml; git commit -qam evil; git rev-parse HEAD"),
		"protected_path", ".github/workflows/new.yml");
	assert_string_equal(f.no.tried, "change .github/workflows/new.yml");
	fixture_close(&f);
}

static void test_protected(void **state)
{
	static const struct {
		const char *script, *path;
	} cases[] = {
		{ "echo x >.github/workflows/x.yml", ".github/workflows/x.yml" },
		{ "echo x >>CODEOWNERS", "CODEOWNERS" },
		{ "chmod +x CODEOWNERS", "CODEOWNERS" },
		{ "git rm -q CODEOWNERS", "CODEOWNERS" },
		{ "git rm -qr .github", ".github/workflows/ci.yml" },
		{ "git mv CODEOWNERS owners", "CODEOWNERS" },
		{ "git mv a CODEOWNERS2; git mv CODEOWNERS2 docs/CODEOWNERS", "docs/CODEOWNERS" },
		{ "git mv .github x", ".github/workflows/ci.yml" },
		{ "git rm -qr .github; echo file >.github", ".github/workflows/ci.yml" },
		{ "git rm -q CODEOWNERS; mkdir CODEOWNERS; echo x >CODEOWNERS/x", "CODEOWNERS" },
		{ "echo x >.GitAttributes", ".GitAttributes" },
		{ "mkdir -p p/.claude; echo {} >p/.claude/settings.json", "p/.claude/settings.json" },
		{ "ln -s dir .claude", ".claude" },
		/* staged by plumbing; no file is ever there */
		{ "git update-index --add --cacheinfo 100644,$(echo x | git hash-object -w --stdin),.mcp.json; "
		  "git commit -qm x; git reset -q --hard HEAD; true",
			".mcp.json" },
	};
	struct fixture f;

	fixture_open(&f, state, 20);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		auto_str script =
			xasprintf("git reset -q --hard main; %s; git add -A; git diff --cached --quiet || "
				  "git commit -qm x; git rev-parse HEAD",
				cases[i].script);

		assert_no(&f, look(&f, script), "protected_path", cases[i].path);
		assert_non_null(strstr(f.no.instead, "garth allow fix "));
	}
	/* with the user's word */
	strvec_push(&f.allowed, ".mcp.json");
	assert_good(&f, look(&f, "git rev-parse HEAD"));
	/* changed and changed back: it is still in the history */
	assert_no(&f,
		look(&f, "git reset -q --hard main; echo x >>CODEOWNERS; git commit -qam x;"
			 "git checkout -q main -- CODEOWNERS; git commit -qm y; git rev-parse HEAD"),
		"protected_path", "CODEOWNERS");
	assert_non_null(strstr(f.no.message, "in a commit before the last"));
	fixture_close(&f);
}

static void test_kinds(void **state)
{
	static const struct {
		const char *entry, *code;
	} cases[] = {
		{ "printf '160000 commit %s\\tsubmodule\\n' $(git rev-parse main)", "gitlink" },
		{ "printf '120000 blob %s\\tl\\n' $(printf /etc/passwd | git hash-object -w --stdin)",
			"link_leaves" },
		{ "printf '120000 blob %s\\tl\\n' $(printf ../x | git hash-object -w --stdin)",
			"link_leaves" },
		{ "printf '120000 blob %s\\tl\\n' $(printf 'a\\0b' | git hash-object -w --stdin)",
			"link_leaves" },
		{ "printf '120000 blob %s\\tl\\n' $(printf '' | git hash-object -w --stdin)", "link_leaves" },
		{ "printf '120000 blob %s\\tl\\n' $(head -c 9000 /dev/zero | tr '\\0' a | git hash-object -w --stdin)",
			"link_leaves" },
		{ "printf '120000 blob %s\\tl\\n' $(printf dir/b | git hash-object -w --stdin)", "" },
		{ "printf '100755 blob %s\\tprogram\\n' $(printf x | git hash-object -w --stdin)", "" },
		/* a mode that git itself never writes: the tree is made by hand */
		{ "printf '100664 blob %s\\todd\\n' $(printf x | git hash-object -w --stdin)", "odd_mode" },
	};
	struct fixture f;

	fixture_open(&f, state, 20);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		auto_str script = xasprintf(
			"t=$({ git ls-tree main; %s; } | git mktree); git commit-tree -p main -m x $t",
			cases[i].entry);
		int rc = look(&f, script);

		if (*cases[i].code)
			assert_no(&f, rc, cases[i].code, NULL);
		else
			assert_good(&f, rc);
	}
	/* in a directory, ".." stays inside the tree */
	assert_good(&f, look(&f, "ln -s ../a dir/up; git add -A; git commit -qm x; git rev-parse HEAD"));
	assert_no(&f, look(&f, "ln -sfn ../../a dir/up; git add -A; git commit -qm x; git rev-parse HEAD"),
		"link_leaves", "dir/up");
	fixture_close(&f);
}

/* J8 */
static void test_limits(void **state)
{
	struct fixture f;

	fixture_open(&f, state, 20);
	f.config.policy.max_files = 5;
	assert_good(&f,
		look(&f, "mkdir n; for i in 1 2 3 4 5; do echo $i >n/$i; done; git add -A; git commit -qm x;"
			 "git rev-parse HEAD"));
	assert_int_equal(f.r.files, 5);
	assert_no(&f, look(&f, "echo 6 >6; git add -A; git commit -qm x; git rev-parse HEAD"),
		"too_many_files", NULL);
	/* the same number, some of them moved */
	assert_no(
		&f, look(&f, "git rm -q n/1; git commit -qm x; git rev-parse HEAD"), "too_many_files", NULL);
	assert_good(&f, look(&f, "git reset -q --soft HEAD~2; git commit -qm x; git rev-parse HEAD"));
	f.config.policy.max_files = 6;
	f.config.policy.max_file_size = 1000;
	assert_no(&f,
		look(&f, "head -c 1001 /dev/zero >dir/big; git add -A; git commit -qm x; git rev-parse HEAD"),
		"file_too_large", "dir/big");
	/* removed again, it is still in the history */
	assert_no(&f, look(&f, "git rm -q dir/big; git commit -qm x; git rev-parse HEAD"), "file_too_large",
		"dir/big");
	f.config.policy.max_file_size = 5000;
	f.config.policy.max_size = 1000;
	assert_no(&f, look(&f, "git rev-parse HEAD"), "too_large", NULL);
	f.config.policy.max_size = 1 << 20;
	f.config.policy.max_commits = 6;
	assert_good(&f, look(&f, "git rev-parse HEAD"));
	assert_int_equal(f.r.commits, 4);
	f.before = 3;
	assert_no(&f, look(&f, "git rev-parse HEAD"), "too_many_commits", NULL);
	fixture_close(&f);
}

/* J8: commits and trees count like files */
static void test_commits_and_trees_count(void **state)
{
	struct fixture f;

	fixture_open(&f, state, 20);
	f.config.policy.max_size = 20000;
	assert_good(
		&f, look(&f, "git commit -q --allow-empty -m \"$(printf %5000d 1)\"; git rev-parse HEAD"));
	assert_true(f.r.bytes > 5000);
	assert_no(&f, look(&f, "git commit -q --allow-empty -m \"$(printf %20000d 1)\"; git rev-parse HEAD"),
		"too_large", NULL);
	/* a tree of many names of one small file */
	assert_no(&f,
		look(&f,
			"b=$(printf x | git hash-object -w --stdin);"
			"t=$({ git ls-tree main; for i in $(seq 400); do printf '100644 blob %s\\t%0100d\\n' $b $i; done; } |"
			"git mktree); git commit-tree -p main -m x $t"),
		"too_large", NULL);
	fixture_close(&f);
}

/* the same large file at many paths is one object, and many in a checkout */
static void test_size_of_the_checkout(void **state)
{
	struct fixture f;

	fixture_open(&f, state, 20);
	f.config.policy.max_size = 5000;
	assert_no(&f,
		look(&f, "mkdir n; for i in 1 2 3 4 5 6; do head -c 1000 /dev/zero >n/$i; done; git add -A;"
			 "git commit -qm x; git rev-parse HEAD"),
		"too_large", NULL);
	assert_good(&f, look(&f, "git rm -q n/1; git commit -q --amend -m x; git rev-parse HEAD"));
	assert_true(f.r.bytes > 1000 && f.r.bytes < 2000);
	fixture_close(&f);
}

/* an existing directory at another place may be incomplete: git has to check */
static void test_doubt(void **state)
{
	struct fixture f;

	fixture_open(&f, state, 20);
	assert_good(&f, look(&f, "git mv dir moved; git commit -qm x; git rev-parse HEAD"));
	assert_true(f.r.doubt);
	assert_int_equal(f.r.files, 2);
	assert_good(&f,
		look(&f,
			"git reset -q --hard main; echo x >dir/x; git add -A; git commit -qm x; git rev-parse HEAD"));
	assert_false(f.r.doubt);
	/* a revert to a tree of before the parents */
	assert_good(&f, look(&f, "git revert --no-edit HEAD >/dev/null; git rev-parse HEAD"));
	assert_int_equal(f.r.commits, 2);
	assert_int_equal(f.r.paths.n, 0);
	/* a root of its own */
	assert_good(&f, look(&f, "git commit-tree -m x $(git rev-parse main^{tree})"));
	assert_true(f.r.doubt);
	assert_int_equal(f.r.stops.n, 0);
	fixture_close(&f);
}

static void test_identity(void **state)
{
	struct fixture f;

	fixture_open(&f, state, 20);
	f.policy.author = "Bot <bot@x>";
	assert_no(&f, look(&f, "echo x >>a; git commit -qam x; git rev-parse HEAD"), "identity", NULL);
	assert_no(&f,
		look(&f,
			"git -c user.name=x commit -q --amend --author 'Bot <bot@x>' --no-edit; git rev-parse HEAD"),
		"identity", NULL);
	assert_no(&f,
		look(&f, "export GIT_COMMITTER_NAME=Bot GIT_COMMITTER_EMAIL=bot@x;"
			 "git commit -q --amend --no-edit; git rev-parse HEAD"),
		"trailer", NULL);
	assert_good(&f,
		look(&f, "export GIT_COMMITTER_NAME=Bot GIT_COMMITTER_EMAIL=bot@x;"
			 "git commit -q --amend --no-edit --trailer 'Garth-Task: fix'; git rev-parse HEAD"));
	/* a signature and other headers are in between */
	assert_good(&f,
		look(&f,
			"printf 'tree %s\\nparent %s\\nauthor Bot <bot@x> 1 +0000\\ncommitter Bot <bot@x> 1 +0000\\n"
			"gpgsig -----BEGIN\\n x\\n \\n y\\n\\nx\\n\\nGarth-Task: fix\\n' $(git rev-parse main^{tree} main) |"
			" git hash-object -w -t commit --stdin"));
	/* a good name before the last '>' is not the name */
	assert_no(&f,
		look(&f,
			"printf 'tree %s\\nparent %s\\nauthor Bot <bot@x> <e@v> 1 +0000\\ncommitter Bot <bot@x> 1 +0000\\n"
			"\\nGarth-Task: fix\\n' $(git rev-parse main^{tree} main) |"
			" git hash-object -w -t commit --literally --stdin"),
		"identity", NULL);
	fixture_close(&f);
}

/* more than one batch, and more than are remembered */
static void test_many(void **state)
{
	struct fixture f;

	fixture_open(&f, state, 20);
	assert_good(&f,
		look(&f,
			"mkdir n; cd n; for ((i = 0; i < 3000; i++)); do echo $i >$i; done; cd ..; git add -A;"
			"git commit -qm x; git rev-parse HEAD"));
	assert_int_equal(f.r.files, 3000);
	assert_int_equal(f.r.paths.n, 1000);
	fixture_close(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		scratch_test(test_plain),
		scratch_test(test_sha256),
		scratch_test(test_known_tip),
		scratch_test(test_merge_of_the_target),
		scratch_test(test_protected),
		scratch_test(test_kinds),
		scratch_test(test_limits),
		scratch_test(test_commits_and_trees_count),
		scratch_test(test_size_of_the_checkout),
		scratch_test(test_doubt),
		scratch_test(test_identity),
		scratch_test(test_many),
	};

	signal(SIGPIPE, SIG_IGN);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
