/* G4: the shim's command lines, its table, and the repository that a command belongs to. */
#include "scratch.h"

#include "base/alloc.h"
#include "shim/shim.h"
#include "shim_run.h"

/* "-C x|status" */
static int split(char *text, char **argv, int max)
{
	int n = 0;

	argv[n++] = (char *)"git";
	while (text && n < max - 1)
		argv[n++] = strsep(&text, "|");
	argv[n] = NULL;
	return n;
}

/* Every way to write global options that git accepts: the subcommand after them is found. */
static void words_find_the_verb(void **state)
{
	static const char *const prefixes[] = {
		"",
		"-p|",
		"-P|",
		"--no-pager|",
		"--paginate|",
		"-c|user.name=commit|",
		"-c|alias.x=!true|",
		"-C|.|",
		"-C|.|-C|.|",
		"-C||",
		"--git-dir|.git|",
		"--git-dir=.git|",
		"--git-dir=.git|--work-tree=.|",
		"--git-dir|.git|--work-tree|.|",
		"--namespace|commit|",
		"--namespace=commit|",
		"--config-env|user.name=HOME|",
		"--config-env=user.name=HOME|",
		"--literal-pathspecs|",
		"--no-literal-pathspecs|",
		"--glob-pathspecs|",
		"--noglob-pathspecs|",
		"--icase-pathspecs|",
		"--no-optional-locks|",
		"--no-replace-objects|",
		"--exec-path=/usr/lib/git-core|",
		"-c|a.b|--no-pager|-C|.|--literal-pathspecs|-P|",
	};
	struct scratch *s = *state;

	assert_int_equal(shell(s, "git init -q ."), 0);
	for (size_t i = 0; i < ARRAY_SIZE(prefixes); i++) {
		auto_str text = xasprintf("%srev-parse|--git-dir", prefixes[i]);
		char *argv[32];
		int argc = split(text, argv, 32);
		struct words w;

		words_parse(argc, argv, &w);
		assert_string_equal(argv[w.verb], "rev-parse");
		assert_int_equal(w.verb, argc - 2);
		/* and git agrees that this is an option with so many words */
		assert_int_equal(real_git(s, argv), 0);
	}
}

static void words_without_a_verb(void **state)
{
	static const char *const lines[] = { "--version", "--help", "-h", "-v", "--exec-path", "--html-path",
		"--list-cmds=main", "-C", "-c", "--git-dir", "--no-such-option|commit", "-Cx|commit",
		"-cx=y|commit", "-p" };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
		auto_str text = xstrdup(lines[i]);
		char *argv[32];
		struct words w;

		words_parse(split(text, argv, 32), argv, &w);
		assert_int_equal(w.verb, 0);
	}
}

static void words_remember_places(void **state)
{
	char text[] = "--git-dir=a|--git-dir|b|--work-tree=c|--bare|commit|--git-dir=d";
	char *argv[32];
	struct words w;

	(void)state;
	words_parse(split(text, argv, 32), argv, &w);
	assert_string_equal(w.git_dir, "b");
	assert_string_equal(w.work_tree, "c");
	assert_true(w.bare);
	assert_string_equal(argv[w.verb], "commit");
}

struct expect {
	const char *line;
	enum rule rule;
	const char *route;
	const char *doubt; /* the word, or NULL */
};

static void look(const char *line, const char *overrides, struct verdict *v, char **argv, char **text)
{
	struct words w;
	int argc;

	*text = xstrdup(line);
	argc = split(*text, argv, 32);
	words_parse(argc, argv, &w);
	git_rules_look(argc, argv, &w, overrides, "refs/heads/garth/fix", "refs/heads/main", v);
}

static void check(const struct expect *x, const char *overrides)
{
	auto_str text = NULL;
	char *argv[32];
	struct verdict v;

	look(x->line, overrides, &v, argv, &text);
	if (v.rule != x->rule)
		fail_msg("git %s: rule %d, not %d", x->line, v.rule, x->rule);
	if (x->route)
		assert_string_equal(v.route, x->route);
	if (!x->doubt != !v.doubt)
		fail_msg("git %s: in doubt, or not", x->line);
	if (x->doubt)
		assert_string_equal(argv[v.doubt], x->doubt);
	assert_true((v.rule == RULE_BLOCKED) == (v.message[0] != '\0'));
	assert_null(strchr(v.message, '{'));
	assert_null(strchr(v.instead, '{'));
}

static void table_by_verb(void **state)
{
	static const char *const local[] = { "status", "log", "diff", "show", "blame|f", "grep|x", "ls-files",
		"cat-file|-p|HEAD", "rev-parse|HEAD", "add|.", "rm|f", "mv|a|b", "restore|f", "branch|x",
		"tag|x", "config|a.b|c", "init", "clone|a|b", "notes", "clean|-f", "apply|p",
		"format-patch|HEAD~", "gc", "worktree|add|x", "no-such-verb", "--version", "", "remote",
		"remote|-v", "remote|add|o|u", "rebase|-h", "rebase|--help", "stash|--help", "commit|--help",
		"ls-remote|https://host/x", "ls-remote|-q|--sort|x|host:x", "ls-remote|./x",
		"ls-remote|--|../x", "fetch|https://host/x|main", "fetch|-q|--depth|1|/x", "fetch|." };
	static const struct expect rows[] = {
		{ "commit|-m|x", RULE_ROUTED },
		{ "-C|.|commit", RULE_ROUTED },
		{ "cherry-pick|x", RULE_ROUTED },
		{ "revert|x", RULE_ROUTED },
		{ "am|x", RULE_ROUTED },
		{ "reset|--hard", RULE_ROUTED, "reset" },
		{ "reset|--|f", RULE_ROUTED, "reset" },
		{ "push", RULE_GATEWAY, "push" },
		{ "fetch", RULE_GATEWAY, "fetch" },
		{ "pull", RULE_GATEWAY, "fetch" },
		{ "ls-remote|origin", RULE_GATEWAY, "fetch", "origin" },
		{ "ls-remote|--sort|a/b", RULE_GATEWAY, "fetch" },
		{ "ls-remote|origin|refs/heads/x", RULE_GATEWAY, "fetch", "origin" },
		{ "fetch|--all", RULE_GATEWAY, "fetch" },
		{ "fetch|--upload-pack|/x|origin|a:b", RULE_GATEWAY, "fetch", "origin" },
		{ "fetch|--multiple|./a|./b", RULE_GATEWAY, "fetch" },
		{ "pull|origin|a:b", RULE_GATEWAY, "fetch", "origin" },
		{ "remote|update", RULE_GATEWAY, "fetch" },
		{ "remote|-v|update|-p", RULE_GATEWAY, "fetch" },
		{ "rebase|main", RULE_BLOCKED },
		{ "stash", RULE_BLOCKED },
		{ "submodule|update", RULE_BLOCKED },
		{ "submodule|--quiet|status", RULE_LOCAL },
		{ "submodule|foreach|true", RULE_LOCAL },
		{ "submodule|add|x", RULE_BLOCKED },
		{ "-c|alias.rebase=log|rebase", RULE_BLOCKED },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(local); i++)
		check(&(struct expect){ local[i], RULE_LOCAL }, "");
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		check(&rows[i], "");
}

static void table_knows_what_moves(void **state)
{
	static const char *const moving[] = { "commit", "merge|x", "reset", "cherry-pick|x", "revert|x", "am",
		"rebase", "pull" };
	static const char *const staying[] = { "status", "checkout|garth/fix", "push", "fetch", "stash" };
	struct verdict v;
	char *argv[32];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(moving); i++) {
		auto_str text = NULL;

		look(moving[i], "rebase local", &v, argv, &text);
		assert_true(v.moves);
	}
	for (size_t i = 0; i < ARRAY_SIZE(staying); i++) {
		auto_str text = NULL;

		look(staying[i], "", &v, argv, &text);
		assert_false(v.moves);
	}
}

static void table_checkout(void **state)
{
	static const struct expect rows[] = {
		{ "checkout", RULE_LOCAL },
		{ "checkout|-f", RULE_LOCAL },
		{ "checkout|--|main", RULE_LOCAL },
		{ "checkout|HEAD~1|--|f", RULE_LOCAL },
		{ "checkout|main|f", RULE_LOCAL },
		{ "checkout|HEAD", RULE_LOCAL },
		{ "checkout|-p", RULE_LOCAL },
		{ "checkout|-p|main", RULE_LOCAL },
		{ "checkout|--ours|f", RULE_LOCAL },
		{ "checkout|--theirs|f", RULE_LOCAL },
		{ "checkout|--pathspec-from-file=x|main", RULE_LOCAL },
		{ "checkout|garth/fix", RULE_ROUTED, "checkout" },
		{ "checkout|-q|garth/fix", RULE_ROUTED, "checkout" },
		{ "checkout|refs/heads/garth/fix", RULE_ROUTED },
		{ "checkout|garth/fix|--", RULE_ROUTED },
		{ "checkout|--conflict|main|garth/fix", RULE_ROUTED },
		{ "checkout|garth/fix2", RULE_BLOCKED, NULL, "garth/fix2" },
		{ "checkout|main", RULE_BLOCKED, NULL, "main" },
		{ "checkout|main|--", RULE_BLOCKED },
		{ "checkout|-", RULE_BLOCKED },
		{ "checkout|HEAD~1", RULE_BLOCKED, NULL, "HEAD~1" },
		{ "checkout|f.c", RULE_BLOCKED, NULL, "f.c" },
		{ "checkout|-b|new", RULE_BLOCKED },
		{ "checkout|-bnew", RULE_BLOCKED },
		{ "checkout|-qB|new", RULE_BLOCKED },
		{ "checkout|--orphan|new", RULE_BLOCKED },
		{ "checkout|--orphan=new", RULE_BLOCKED },
		{ "checkout|--detach", RULE_BLOCKED },
		{ "checkout|--det|garth/fix", RULE_BLOCKED },
		{ "checkout|-d", RULE_BLOCKED },
		{ "checkout|-t|origin/x", RULE_BLOCKED },
		{ "checkout|garth/fix|-b|x", RULE_BLOCKED },
		{ "switch", RULE_LOCAL },
		{ "switch|garth/fix", RULE_ROUTED, "checkout" },
		{ "switch|main", RULE_BLOCKED },
		{ "switch|-", RULE_BLOCKED },
		{ "switch|-c|new", RULE_BLOCKED },
		{ "switch|-Cnew", RULE_BLOCKED },
		{ "switch|--create|new", RULE_BLOCKED },
		{ "switch|--force-create=new", RULE_BLOCKED },
		{ "switch|--force|garth/fix", RULE_ROUTED },
		{ "switch|--detach|garth/fix", RULE_BLOCKED },
		{ "switch|--orphan|x", RULE_BLOCKED },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		check(&rows[i], "");
}

static void table_merge(void **state)
{
	static const char *const target[] = { "merge|main", "merge|origin/main", "merge|refs/heads/main",
		"merge|heads/main", "merge|remotes/any/main", "merge|refs/remotes/any/main", "merge|main^0",
		"merge|main~2", "merge|main@{u}", "merge|x|main", "merge|--no-ff|-m|x|main",
		"merge|-qm|x|main", "merge|--|main", "merge|-S|main" };
	static const char *const other[] = { "merge|x", "merge|--abort", "merge|--continue",
		"merge|-m|main|x", "merge|-mmain|x", "merge|-qm|main|x", "merge|-F|main|x", "merge|-s|main|x",
		"merge|-X|main|x", "merge|--into-name|main|x", "merge|--message=main|x", "merge|maintain",
		"merge|feature/main", "merge|main/x", "merge|origin/mainly", "merge|origin/x/main", "merge" };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(target); i++)
		check(&(struct expect){ target[i], RULE_BLOCKED }, "");
	for (size_t i = 0; i < ARRAY_SIZE(other); i++)
		check(&(struct expect){ other[i], RULE_ROUTED, "merge" }, "");
}

static void table_is_changed_by_configuration(void **state)
{
	static const char text[] =
		"rebase local\nstash  routed\r\nmerge local\nmerge blocked\nstatus blocked\n"
		"checkout local\nnonsense\nlog nonsense\npush local\ndiff gateway\ncommit";
	static const struct expect rows[] = {
		{ "rebase|main", RULE_LOCAL },
		{ "stash", RULE_ROUTED },
		{ "merge|x", RULE_BLOCKED },
		{ "status", RULE_BLOCKED },
		{ "checkout|-b|x", RULE_LOCAL },
		{ "log", RULE_LOCAL },
		{ "push", RULE_LOCAL },
		{ "diff", RULE_GATEWAY, "diff" },
		{ "commit", RULE_ROUTED },
		{ "submodule|add|x", RULE_BLOCKED },
		{ "reb|x", RULE_LOCAL },
		{ "rebases", RULE_LOCAL },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		check(&rows[i], text);
	/* what is no path of the API is not asked */
	check(&(struct expect){ "a/../b", RULE_BLOCKED }, "a/../b gateway");
}

static void table_says_what_to_do(void **state)
{
	auto_str text = NULL;
	struct verdict v;
	char *argv[32];

	(void)state;
	look("rebase", "", &v, argv, &text);
	assert_string_equal(v.message, "rebase is not available in a task");
	assert_string_equal(v.instead,
		"commit on garth/fix as it is; the user rebases when merging (garth sync brings main in)");
}

struct where {
	const char *cd, *line;
	bool elsewhere;
};

static void places(void **state)
{
	static const struct where rows[] = {
		{ "ws", "commit", false },
		{ "ws/sub", "commit", false },
		{ "ws/empty", "commit", false },
		{ "ws/.git", "commit", false },
		{ "ws/own", "commit", true },
		{ "ws/own/deep", "commit", true },
		{ "ws/bare", "commit", true },
		{ "other", "commit", true },
		{ ".", "commit", true },
		{ ".", "-C|ws|commit", false },
		{ ".", "-C|ws|-C|sub|commit", false },
		{ ".", "-C|ws/own|commit", true },
		{ "ws", "-C|..|-C|other|commit", true },
		{ "ws", "-C||commit", false },
		{ "ws", "-C|nowhere|commit", true },
		{ "ws/own", "-C|..|commit", false },
		{ "ws", "--git-dir=.git|commit", false },
		{ "ws", "--git-dir|../other/.git|commit", true },
		{ "other", "--git-dir=../ws/.git|commit", false },
		{ "ws", "--work-tree=sub|commit", false },
		{ "ws", "--work-tree=../other|commit", true },
		{ "ws", "--bare|commit", true },
		{ "link", "commit", false },
		{ "ws/tree", "commit", true },
		{ ".", "--git-dir=.git|-C|ws|commit", false },
	};
	struct scratch *s = *state;
	auto_str ws = xasprintf("%s/ws", s->path);

	assert_int_equal(
		shell(s,
			"git init -q ws && git init -q other && cd ws && mkdir sub empty empty/.git && "
			"git init -q own && mkdir own/deep && git init -q --bare bare && ln -s ws ../link && "
			"git commit -q --allow-empty -m x && git worktree add -q tree"),
		0);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		auto_str text = xstrdup(rows[i].line), cd = xasprintf("%s/%s", s->path, rows[i].cd);
		auto_which_repo p = WHICH_REPO_INIT;
		struct words w;
		char *argv[32];
		int argc = split(text, argv, 32);

		assert_int_equal(chdir(cd), 0);
		words_parse(argc, argv, &w);
		which_repo_find(argc, argv, &w, ws, &p);
		if (p.elsewhere != rows[i].elsewhere)
			fail_msg("in %s, git %s: %s", rows[i].cd, rows[i].line,
				p.elsewhere ? "elsewhere" : "here");
		assert_int_equal(chdir("/"), 0);
	}
}

/* A worktree workspace: .git is a file that names the repository. */
static void places_of_a_git_file(void **state)
{
	struct scratch *s = *state;
	auto_str ws = xasprintf("%s/ws", s->path), text = xstrdup("--git-dir=../private|commit");
	auto_which_repo p = WHICH_REPO_INIT, q = WHICH_REPO_INIT;
	struct words w;
	char *argv[32];
	int argc = split(text, argv, 32);

	assert_int_equal(shell(s, "git init -q --separate-git-dir private ws"), 0);
	assert_int_equal(chdir(ws), 0);
	words_parse(argc, argv, &w);
	which_repo_find(argc, argv, &w, ws, &p);
	assert_false(p.elsewhere);
	assert_true(p.git_dir >= 0);
	setenv("GIT_DIR", "/nowhere", 1);
	which_repo_find(1, argv, &(struct words){ 0 }, ws, &q);
	unsetenv("GIT_DIR");
	assert_true(q.elsewhere);
	assert_int_equal(chdir("/"), 0);
}

static void real_git_is_found(void **state)
{
	struct scratch *s = *state;
	auto_str bin = xasprintf("%s/bin", s->path), want = xasprintf("%s/two/git", s->path);
	auto_str path = xasprintf(
		"%s/none:%s/:%s/self:%s/plain:%s/two:/usr/bin", s->path, bin, s->path, s->path, s->path);
	auto_str old = xstrdup(getenv("PATH"));
	char out[4096];

	assert_int_equal(
		shell(s, "mkdir bin self plain two; for d in bin two; do printf '#!/bin/sh\\n' >$d/git; "
			 "chmod +x $d/git; done; mkdir plain/git"),
		0);
	auto_str self = xasprintf("%s/self/git", s->path);

	assert_int_equal(symlink("/proc/self/exe", self), 0);
	setenv("PATH", path, 1);
	run_find(bin, out, sizeof(out));
	assert_string_equal(out, want);
	setenv("PATH", bin, 1);
	run_find(bin, out, sizeof(out));
	assert_string_equal(out, "/usr/bin/git");
	unsetenv("PATH");
	run_find(bin, out, sizeof(out));
	assert_string_equal(out, "/usr/bin/git");
	setenv("PATH", old, 1);
}

static void facts_are_read(void **state)
{
	struct scratch *s = *state;
	auto_str file = xasprintf("%s/task", s->path);
	auto_buf text = BUF_SMALL;
	struct facts f;

	buf_addstr(&text,
		"other=x\nname=fix\n\nbranch=refs/heads/garth/fix\nbranches=no\ntarget=\ntrailer=A: b\nname=");
	for (int i = 0; i < 200; i++)
		buf_addch(&text, 'n');
	put(s->fd, "task", buf_str(&text));
	facts_read(file, &f);
	assert_string_equal(f.name, "fix"); /* what is too long is ignored */
	assert_string_equal(f.branch, "refs/heads/garth/fix");
	assert_string_equal(facts_short(f.branch), "garth/fix");
	assert_string_equal(f.target, "");
	assert_string_equal(f.trailer, "A: b");
	assert_string_equal(f.workspace, "");
	facts_read("/nowhere", &f);
	assert_string_equal(f.branch, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		scratch_test(words_find_the_verb),
		cmocka_unit_test(words_without_a_verb),
		cmocka_unit_test(words_remember_places),
		cmocka_unit_test(table_by_verb),
		cmocka_unit_test(table_knows_what_moves),
		cmocka_unit_test(table_checkout),
		cmocka_unit_test(table_merge),
		cmocka_unit_test(table_is_changed_by_configuration),
		cmocka_unit_test(table_says_what_to_do),
		scratch_test(places),
		scratch_test(places_of_a_git_file),
		scratch_test(real_git_is_found),
		scratch_test(facts_are_read),
	};

	git_environment();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
