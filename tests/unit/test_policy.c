#include "testing.h"

#include <time.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/glob.h"
#include "publish/policy.h"

struct glob_case {
	const char *glob, *path;
	bool matches;
};

static const struct glob_case globs[] = {
	/* names at any depth, and what is beneath them */
	{ "CODEOWNERS", "CODEOWNERS", true },
	{ "CODEOWNERS", ".github/CODEOWNERS", true },
	{ "CODEOWNERS", "docs/codeowners", true },
	{ "CODEOWNERS", "a/CODEOWNERS/b/c", true },
	{ "CODEOWNERS", "CODEOWNERS2", false },
	{ "CODEOWNERS", "a/xCODEOWNERS", false },
	{ "deploy/", "deploy/x", true },
	{ "deploy/", "a/deploy", true },
	/* a leading slash means the root only */
	{ "/deploy", "deploy", true },
	{ "/deploy", "deploy/x", true },
	{ "/deploy", "a/deploy", false },
	{ "a/b", "a/b", true },
	{ "a/b", "a/b/c", true },
	{ "a/b", "x/a/b", false },
	{ "a/b", "a", false },
	{ "a/b", "a/bc", false },
	/* '**' */
	{ ".github/workflows/**", ".github/workflows/ci.yml", true },
	{ ".github/workflows/**", ".GitHub/Workflows/a/b.yml", true },
	{ ".github/workflows/**", ".github/workflows", false },
	{ ".github/workflows/**", ".github/workflowsx/a", false },
	{ ".github/workflows/**", "a/.github/workflows/b", false },
	{ "**/x", "x", true },
	{ "**/x", "a/b/x", true },
	{ "**/x", "a/b/xx", false },
	{ "a/**/b", "a/b", true },
	{ "a/**/b", "a/x/y/b", true },
	{ "a/**/b", "a/x/b/c", true },
	{ "a/**/b", "a/x/c", false },
	{ "a/**/b/**/c", "a/b/x/b/y/c", true },
	{ "a/**/b/**/c", "a/c/b", false },
	{ "**", "a", true },
	{ "**", "a/b", true },
	{ "**/a/**/a/**/a", "a/a", false },
	{ "**/a/**/a/**/a", "x/a/a/y/a", true },
	/* within a name */
	{ "*.key", "a/b.KEY", true },
	{ "*.key", "a.key.x", false },
	{ "a/*.c", "a/b/x.c", false },
	{ "a/*/x.c", "a/b/x.c", true },
	{ "a*b*c", "aXbXbXc", true },
	{ "a*b*c", "aXbXb", false },
	{ "a**b", "axb", true },
	{ "a**b", "a/b", false },
	{ "?", "x", true },
	{ "?", "\xc3\xa4", true },
	{ "??", "x", false },
	{ "a?c", "a/c", false },
	{ "[a-c]x", "Bx", true },
	{ "[!a-c]x", "bx", false },
	{ "[^a-c]x", "dx", true },
	{ "[]x]", "]", true },
	{ "[a", "[a", true },
	{ "[a", "a", false },
	{ "[", "[", true },
	{ "a[/]b", "a/b", false },
	{ "\\*", "*", true },
	{ "\\*", "x", false },
	{ "\\", "\\", true },
	/* nothing */
	{ "", "a", false },
	{ "/", "a", false },
	{ "a", "", false },
};

static void test_globs(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(globs); i++)
		if (glob_matches(globs[i].glob, globs[i].path) != globs[i].matches)
			fail_msg("'%s' against '%s' is not %d", globs[i].glob, globs[i].path,
				globs[i].matches);
}

static char *repeated(const char *s, size_t n, const char *end)
{
	struct buf b = BUF_INIT(1 << 20);

	for (size_t i = 0; i < n; i++)
		buf_addstr(&b, s);
	buf_addstr(&b, end);
	return buf_steal(&b);
}

/* globs that would take a backtracking matcher for ever */
static void test_no_glob_is_slow(void **state)
{
	auto_str a = repeated("a", 4000, ""), parts = repeated("a/", 2000, "a"),
		 open = repeated("[", 4000, "");
	char *evil[] = { repeated("*a", 500, "b"), repeated("**/a/", 200, "b"), repeated("**/", 300, "b"),
		repeated("*[", 500, "b"), repeated("[a-", 300, "b"), repeated("[", 900, "]"),
		repeated("?*", 500, "b") };
	clock_t from = clock();

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(evil); i++) {
		glob_matches(evil[i], a);
		glob_matches(evil[i], parts);
		glob_matches(evil[i], open);
		free(evil[i]);
	}
	assert_true(clock() - from < 5 * CLOCKS_PER_SEC);
}

static void test_above(void **state)
{
	(void)state;
	assert_true(glob_is_above(".github/workflows/**", ".github"));
	assert_true(glob_is_above(".github/workflows/**", ".GITHUB/workflows"));
	assert_false(glob_is_above(".github/workflows/**", ".github/workflows/x"));
	assert_false(glob_is_above(".github/workflows/**", ".github/other"));
	assert_false(glob_is_above(".github/workflows/**", "x/.github"));
	assert_true(glob_is_above("**/.claude/settings.json", ".claude"));
	assert_true(glob_is_above("**/.claude/settings.json", "a/b/.claude"));
	assert_false(glob_is_above("**/.claude/settings.json", "a/b"));
	assert_true(glob_is_above("a/**/b", "a/x/y"));
	assert_false(glob_is_above("CODEOWNERS", "docs"));
}

struct world {
	struct config config;
	struct strvec allowed;
	struct policy policy;
	struct refusal no;
	struct err e;
};

static void world_open(struct world *w)
{
	*w = (struct world){ 0 };
	config_defaults(&w->config);
	w->policy = (struct policy){ .rules = &w->config.policy, .allowed = &w->allowed, .task = "fix" };
}

static void world_close(struct world *w)
{
	config_release(&w->config);
	strvec_release(&w->allowed);
}

static int change(struct world *w, const char *path, unsigned mode, uint64_t size, const char *link)
{
	struct policy_path c = { path, mode, true, size, link };

	w->no = (struct refusal){ 0 };
	w->e = (struct err)ERR_INIT;
	return policy_path(&w->policy, &c, &w->no, &w->e);
}

static void assert_no(struct world *w, int rc, const char *code)
{
	assert_int_equal(rc, -1);
	assert_int_equal(w->e.kind, ERR_REFUSED);
	assert_string_equal(w->no.code, code);
	assert_true(*w->no.message && *w->no.tried && *w->no.instead);
	assert_string_equal(w->no.message, w->e.msg);
	assert_null(strpbrk(w->no.instead, "\n\x1b"));
}

/* G5: the paths that need the user's permission */
static void test_protected(void **state)
{
	static const char *const yes[] = { ".github/workflows/x.yml", ".gitlab-ci.yml",
		".circleci/config.yml", "CODEOWNERS", ".github/CODEOWNERS", "docs/CODEOWNERS",
		".gitattributes", "a/b/.gitattributes", ".lfsconfig", ".gitmodules", ".claude/settings.json",
		"pkg/.claude/settings.local.json", ".claude/hooks/pre.sh", ".mcp.json", ".codex/config.toml",
		".gemini/settings.json", "opencode.json", ".opencode/plugin/x.js", ".cursor/mcp.json",
		".vscode/tasks.json", ".VSCode/Settings.json", "a/.vscode/launch.json",
		".vscode/extensions.json", ".idea/runConfigurations/a.xml", ".envrc", "a/.envrc",
		".devcontainer/devcontainer.json", ".husky/pre-commit", ".pre-commit-config.yaml",
		".garth.yaml", ".worktreeinclude", ".mailmap", ".github/actions/x/action.yml",
		".gitea/workflows/x.yml", ".forgejo/workflows/x.yml", "Jenkinsfile", "sub/Jenkinsfile",
		".travis.yml", "azure-pipelines.yml", "bitbucket-pipelines.yml", ".drone.yml",
		".woodpecker/x.yml", ".buildkite/pipeline.yml", "appveyor.yml", "cloudbuild.yaml",
		".teamcity/settings.kts", ".tekton/x.yaml", "buildspec.yml", ".semaphore/semaphore.yml",
		".cirrus.yml", "codemagic.yaml", ".build.yml", ".builds/x.yml", ".vscode/mcp.json",
		".aider.conf.yml", "a/.roo/mcp.json", ".kilocode/mcp.json", ".amazonq/mcp.json",
		".kiro/settings/mcp.json", ".kiro/hooks/x.kiro.hook", ".github/hooks/x.json",
		".cursor/hooks.json", ".cursor/hooks/x.sh", ".zed/settings.json", "a/.zed/tasks.json",
		".zed/debug.json", "a/b.code-workspace", ".exrc", ".nvim.lua", "lefthook.yml" };
	static const char *const not [] = { "README.md", ".github/ISSUE_TEMPLATE/x.md", ".goosehints",
		"CLAUDE.md", ".claude/commands/x.md", ".vscode/snippets.code-snippets", "src/codeowners.c",
		".gitignore" };
	struct world w;

	(void)state;
	world_open(&w);
	for (size_t i = 0; i < ARRAY_SIZE(yes); i++) {
		assert_true(policy_is_protected(&w.policy, yes[i]));
		assert_no(&w, change(&w, yes[i], 0100644, 1, NULL), "protected_path");
		assert_no(&w, change(&w, yes[i], 0, 0, NULL), "protected_path");
	}
	for (size_t i = 0; i < ARRAY_SIZE(not ); i++)
		assert_int_equal(change(&w, not [i], 0100644, 1, NULL), 0);
	assert_int_equal(change(&w, ".github", 0100644, 1, NULL), 0);
	assert_no(&w, change(&w, ".github", 0120000, 1, "x"), "protected_path");
	assert_no(&w, change(&w, "a/.claude", 0120000, 1, "x"), "protected_path");
	world_close(&w);
}

static void test_allowed(void **state)
{
	struct world w;

	(void)state;
	world_open(&w);
	strvec_push(&w.allowed, ".github/workflows/ci.yml");
	strvec_push(&w.config.policy.allow, ".envrc");
	strvec_push(&w.config.policy.protect, "app/**");
	strvec_push(&w.allowed, "app/[id]/page.tsx");
	strvec_push(&w.allowed, "");
	assert_int_equal(change(&w, ".github/workflows/ci.yml", 0100644, 1, NULL), 0);
	assert_no(&w, change(&w, ".github/workflows/cd.yml", 0100644, 1, NULL), "protected_path");
	assert_int_equal(change(&w, "a/.envrc", 0100644, 1, NULL), 0);
	assert_int_equal(change(&w, "app/[id]/page.tsx", 0100644, 1, NULL), 0);
	assert_no(&w, change(&w, "app/x", 0100644, 1, NULL), "protected_path");
	w.policy.allowed = NULL;
	assert_no(&w, change(&w, ".github/workflows/ci.yml", 0100644, 1, NULL), "protected_path");
	world_close(&w);
}

static void test_scope(void **state)
{
	struct world w;

	(void)state;
	world_open(&w);
	assert_int_equal(change(&w, "x", 0100644, 1, NULL), 0);
	strvec_push(&w.config.policy.scope, "src/**");
	strvec_push(&w.config.policy.scope, "/README");
	assert_int_equal(change(&w, "src/a/b.c", 0100644, 1, NULL), 0);
	assert_int_equal(change(&w, "README", 0100644, 1, NULL), 0);
	assert_no(&w, change(&w, "x", 0100644, 1, NULL), "outside_scope");
	assert_no(&w, change(&w, "x", 0, 0, NULL), "outside_scope");
	assert_no(&w, change(&w, "x", 0120000, 1, "src"), "outside_scope");
	assert_no(&w, change(&w, "a/README", 0100644, 1, NULL), "outside_scope");
	/* it permits, so it is exact */
	assert_no(&w, change(&w, "SRC/a", 0100644, 1, NULL), "outside_scope");
	/* what is protected stays so */
	strvec_push(&w.config.policy.scope, ".envrc");
	assert_no(&w, change(&w, ".envrc", 0100644, 1, NULL), "protected_path");
	/* neither does a path that is not protected any more come into the scope */
	strvec_push(&w.config.policy.allow, "lib/**");
	assert_no(&w, change(&w, "lib/x", 0100644, 1, NULL), "outside_scope");
	strvec_push(&w.allowed, "lib/x");
	assert_int_equal(change(&w, "lib/x", 0100644, 1, NULL), 0);
	/* a submodule's paths are those in the task */
	strvec_push(&w.config.policy.scope, "libs/mod/a");
	w.policy.within = "libs/mod";
	assert_int_equal(change(&w, "a", 0100644, 1, NULL), 0);
	assert_no(&w, change(&w, "src/b", 0100644, 1, NULL), "outside_scope");
	world_close(&w);
}

/* the user copies the command in the advice, and the agent chose the path in it */
static void test_advice_is_safe_to_copy(void **state)
{
	struct world w;

	(void)state;
	world_open(&w);
	change(&w, ".husky/pre-commit", 0100755, 1, NULL);
	assert_string_equal(w.no.instead, "leave .husky/pre-commit as it is; the user can allow it with: "
					  "garth allow fix .husky/pre-commit");
	assert_string_equal(w.no.tried, "add .husky/pre-commit");
	assert_string_equal(w.no.boundary, "**/.husky/**");
	change(&w, ".husky/$(reboot)'x", 0100755, 1, NULL);
	assert_non_null(strstr(w.no.instead, "garth allow fix '.husky/$(reboot)'\\''x'"));
	assert_string_equal(w.no.path, ".husky/$(reboot)'x");
	assert_no(&w, change(&w, ".husky/a\nBLOCKED: \x1b[2Jno", 0100644, 1, NULL), "protected_path");
	world_close(&w);
}

static void test_kinds(void **state)
{
	struct world w;

	(void)state;
	world_open(&w);
	w.config.policy.max_file_size = 10;
	assert_int_equal(change(&w, "a", 0100644, 10, NULL), 0);
	assert_int_equal(change(&w, "a", 0100755, 10, NULL), 0);
	assert_no(&w, change(&w, "a", 0100644, 11, NULL), "file_too_large");
	assert_no(&w, change(&w, "a", 0160000, 0, NULL), "gitlink");
	for (unsigned i = 0; i < 3; i++) {
		static const unsigned modes[] = { 0, 0100644, 0160000 };
		struct policy_path was = { "a", modes[i], false, 0, NULL, true };

		assert_no(&w, policy_path(&w.policy, &was, &w.no, &w.e), "gitlink");
	}
	assert_no(&w, change(&w, "a", 0100664, 0, NULL), "odd_mode");
	assert_no(&w, change(&w, "a", 0104755, 0, NULL), "odd_mode");
	assert_no(&w, change(&w, "a", 0040000, 0, NULL), "odd_mode");
	assert_int_equal(change(&w, "a", 0, 0, NULL), 0);
	assert_int_equal(policy_size(&w.policy, "x", 10, &w.no, &w.e), 0);
	assert_no(&w, policy_size(&w.policy, "x", 11, &w.no, &w.e), "file_too_large");
	world_close(&w);
}

static bool may_link(void *arg, const char *path, const char *commit, const struct strvec *from)
{
	(void)from;
	return !strcmp(path, "lib") && !strcmp(commit, arg);
}

/* A gitlink moves only to a commit that may_link names, and only where there was one. */
static void test_gitlinks(void **state)
{
	struct world w;
	struct policy_path move = { "lib", 0160000, false, 0, NULL, true, "abc" };
	struct policy_path other = { "lib", 0160000, false, 0, NULL, true, "def" };
	struct policy_path added = { "lib", 0160000, true, 0, NULL, false, "abc" };
	struct policy_path file = { "lib", 0160000, false, 0, NULL, false, "abc" };
	struct policy_path gone = { "lib", 0, false, 0, NULL, true, NULL };

	(void)state;
	world_open(&w);
	assert_no(&w, policy_path(&w.policy, &move, &w.no, &w.e), "gitlink");
	w.policy.may_link = may_link;
	w.policy.may_link_arg = "abc";
	assert_int_equal(policy_path(&w.policy, &move, &w.no, &w.e), 0);
	assert_no(&w, policy_path(&w.policy, &other, &w.no, &w.e), "gitlink");
	assert_no(&w, policy_path(&w.policy, &added, &w.no, &w.e), "gitlink");
	assert_no(&w, policy_path(&w.policy, &file, &w.no, &w.e), "gitlink");
	assert_no(&w, policy_path(&w.policy, &gone, &w.no, &w.e), "gitlink");
	world_close(&w);
}

/* In a submodule, a path is protected by its name there and by its whole name, and allowed by its whole name. */
static void test_within(void **state)
{
	auto_strvec allowed = STRVEC_INIT;
	struct world w;

	(void)state;
	world_open(&w);
	w.policy.allowed = &allowed;
	w.policy.within = "libs/mod";
	/* protected at the top of a repository only */
	assert_no(&w, change(&w, ".github/workflows/ci.yml", 0100644, 1, NULL), "protected_path");
	assert_string_equal(w.no.path, "libs/mod/.github/workflows/ci.yml");
	strvec_push(&allowed, ".github/workflows/ci.yml");
	assert_no(&w, change(&w, ".github/workflows/ci.yml", 0100644, 1, NULL), "protected_path");
	strvec_push(&allowed, "libs/mod/.github/workflows/ci.yml");
	assert_int_equal(change(&w, ".github/workflows/ci.yml", 0100644, 1, NULL), 0);
	/* the whole name counts, too */
	strvec_push(&w.config.policy.protect, "libs/mod/src/**");
	assert_no(&w, change(&w, "src/x", 0100644, 1, NULL), "protected_path");
	assert_int_equal(change(&w, "a", 0100644, 1, NULL), 0);
	world_close(&w);
}

static void test_links(void **state)
{
	static const struct {
		const char *path, *target;
		bool good;
	} links[] = {
		{ "l", "a", true },
		{ "l", "a/b/./c", true },
		{ "d/l", "../a", true },
		{ "d/e/l", "../../a", true },
		{ "d/l", "./../a", true },
		{ "l", ".", true },
		{ "l", "..a", true },
		{ "l", ".gitignore", true },
		{ "l", "/etc/passwd", false },
		{ "l", "/", false },
		{ "l", "..", false },
		{ "l", "../x", false },
		{ "d/l", "../../x", false },
		{ "d/l", "..//../x", false },
		{ "l", "a/../../x", false },
		/* p may itself be a link to the root: ".." after it is outside */
		{ "l", "p/../x", false },
		{ "d/e/l", "p/../x", false },
		{ "l", ".git/hooks", false },
		{ "d/l", "../.GIT/config", false },
		{ "l", "sub/.git", false },
		{ "l", "", false },
	};
	struct world w;

	(void)state;
	world_open(&w);
	for (size_t i = 0; i < ARRAY_SIZE(links); i++) {
		int rc = change(&w, links[i].path, 0120000, strlen(links[i].target), links[i].target);

		if (rc != (links[i].good ? 0 : -1))
			fail_msg("%s -> %s", links[i].path, links[i].target);
		if (rc)
			assert_no(&w, rc, "link_leaves");
	}
	assert_no(&w, change(&w, "l", 0120000, 0, NULL), "link_leaves");
	world_close(&w);
}

static int commit(struct world *w, const char *author, const char *committer, const char *message)
{
	return policy_commit(&w->policy, "0123456789abcdef", author, committer, message, &w->no, &w->e);
}

static void test_identity(void **state)
{
	static const char bot[] = "Bot <bot@x>";
	struct world w;

	(void)state;
	world_open(&w);
	assert_int_equal(commit(&w, "A <a@b>", "C <c@d>", "m\n"), 0);
	w.policy.author = bot;
	assert_int_equal(commit(&w, bot, bot, "m\n\nGarth-Task: fix\n"), 0);
	assert_int_equal(
		commit(&w, bot, bot, "m\n\nlong\n\nOther: x\nGarth-Task: fix \nSigned-off-by: y\n\n"), 0);
	assert_int_equal(commit(&w, bot, bot, "Garth-Task: fix"), 0);
	assert_no(&w, commit(&w, "A <a@b>", bot, "m\n\nGarth-Task: fix\n"), "identity");
	assert_no(&w, commit(&w, bot, "Bot <bot@x >", "m\n\nGarth-Task: fix\n"), "identity");
	assert_no(&w, commit(&w, bot, bot, "m\n"), "trailer");
	assert_no(&w, commit(&w, bot, bot, ""), "trailer");
	assert_no(&w, commit(&w, bot, bot, "m\n\nGarth-Task: fix2\n"), "trailer");
	assert_no(&w, commit(&w, bot, bot, "m\n\nnot a Garth-Task: fix\n"), "trailer");
	assert_no(&w, commit(&w, bot, bot, "m\n\nGarth-Task: fix\n\nmore text\n"), "trailer");
	world_close(&w);
}

/* J8 */
static void test_counts(void **state)
{
	struct world w;

	(void)state;
	world_open(&w);
	assert_int_equal(policy_counts(&w.policy, 100, 10000, 1 << 30, &w.no, &w.e), 0);
	assert_no(&w, policy_counts(&w.policy, 101, 0, 0, &w.no, &w.e), "too_many_commits");
	assert_no(&w, policy_counts(&w.policy, 0, 10001, 0, &w.no, &w.e), "too_many_files");
	assert_no(&w, policy_counts(&w.policy, 0, 0, (1 << 30) + 1ull, &w.no, &w.e), "too_large");
	assert_string_equal(w.no.boundary, "limits.max_worktree_size 1073741824");
	world_close(&w);
}

/* the agent's text is cut between characters, and its control characters have no effect */
static void test_refusal_text(void **state)
{
	auto_str wide = repeated("\xc3\xa4", 1000, "");
	struct refusal r;
	struct err e = ERR_INIT;

	(void)state;
	assert_int_equal(refuse(&r, &e, "x", wide, "a%s", wide), -1);
	assert_int_equal(strlen(r.message) % 2, 1);
	assert_true(strlen(r.message) < sizeof(r.message) && strlen(r.path) == sizeof(r.path) - 1);
	refuse(&r, &e, "x", NULL, "a\x1b[1mb\nc\xff");
	assert_null(strpbrk(r.message, "\x1b\n\xff"));
	assert_int_equal(refusal_say(&r, "t\nx", wide), -1);
	assert_string_equal(r.tried, "t x");
	assert_int_equal(strlen(r.instead) % 2, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_globs),
		cmocka_unit_test(test_no_glob_is_slow),
		cmocka_unit_test(test_above),
		cmocka_unit_test(test_protected),
		cmocka_unit_test(test_allowed),
		cmocka_unit_test(test_scope),
		cmocka_unit_test(test_advice_is_safe_to_copy),
		cmocka_unit_test(test_kinds),
		cmocka_unit_test(test_gitlinks),
		cmocka_unit_test(test_within),
		cmocka_unit_test(test_links),
		cmocka_unit_test(test_identity),
		cmocka_unit_test(test_counts),
		cmocka_unit_test(test_refusal_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
