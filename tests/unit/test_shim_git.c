/* G4: the shim and the hook around the real git, with a gateway that answers as the test wants. */
#include "shim_world.h"

static void reads_ask_nobody(void **state)
{
	struct world *w = *state;

	put(w->s->fd, "ws/a", "2\n");
	assert_int_equal(git(w, "status|--porcelain"), 0);
	out(w, " M a\n");
	assert_int_equal(git(w, "-C|d|rev-parse|--show-prefix"), 0);
	out(w, "d/\n");
	assert_int_equal(git(w, "log|--no-such-option"), 128);
	assert_int_equal(git(w, "no-such-verb"), 1);
	assert_int_equal(git(w, "diff|--quiet"), 1);
	assert_int_equal(git(w, "--no-such-option"), 129);
	assert_int_equal(git(w, "--version"), 0);
	asked(w, "");
}

static void without_a_task_it_is_git(void **state)
{
	struct world *w = *state;

	put(w->s->fd, "task", "name=fix\n");
	assert_int_equal(git(w, "switch|-q|main"), 0);
	assert_int_equal(git(w, "rebase|-q|other"), 0);
	asked(w, "");
}

static void a_commit_is_told_by_the_hook(void **state)
{
	struct world *w = *state;
	auto_str tip = NULL, want = NULL;

	put(w->s->fd, "ws/a", "2\n");
	assert_int_equal(git(w, "commit|-qam|two"), 0);
	tip = rev(w, "garth/fix");
	want = xasprintf("/api/v1/git/publish {\"tip\":\"%s\"}\n", tip);
	asked(w, want); /* once: the shim sees that the hook has asked */
	/* nothing is left of it in git's environment or in its output */
	out(w, "");
	assert_content(w->s->fd, "err", "");
}

static void a_commit_that_fails_is_gits(void **state)
{
	struct world *w = *state;

	assert_int_equal(git(w, "commit|-m|nothing"), 1);
	assert_int_equal(git(w, "commit|--no-such-option"), 129);
	asked(w, "");
}

static void a_refused_commit_leaves_all_as_it_was(void **state)
{
	struct world *w = *state;
	auto_str before = rev(w, "HEAD"), after = NULL;

	no(w, "\"message\":\"a is protected\",\"instead\":\"leave a\"");
	put(w->s->fd, "ws/a", "2\n");
	put(w->s->fd, "ws/d/f", "2\n");
	assert_int_equal(git(w, "add|a"), 0);
	assert_int_equal(git(w, "commit|-qm|two"), 128);
	assert_err_has(w, "BLOCKED: a is protected\nYou tried to: move garth/fix to ");
	assert_err_has(w, "Instead, you should: leave a\n");
	after = rev(w, "HEAD");
	assert_string_equal(before, after);
	assert_int_equal(git(w, "status|--porcelain"), 0);
	out(w, "M  a\n M d/f\n");
	/* also with -a: what was not staged stays unstaged */
	assert_int_equal(git(w, "commit|-qam|two"), 128);
	assert_int_equal(git(w, "status|--porcelain"), 0);
	out(w, "M  a\n M d/f\n");
}

static void every_git_is_told(void **state)
{
	struct world *w = *state;

	no(w, "\"message\":\"no\"");
	assert_int_not_equal(shell(w->s, "cd ws && git commit -q --allow-empty -m x 2>../err"), 0);
	assert_err_has(w, "BLOCKED: no\n");
	assert_int_not_equal(
		shell(w->s, "cd ws && git update-ref refs/heads/garth/fix other^{tree} 2>../err"), 0);
	/* other branches, and what the gateway's own git does, are not sent to the gateway */
	put(w->s->fd, "asked", "");
	assert_int_equal(
		shell(w->s, "cd ws && git branch third && git tag t && git branch -D third >/dev/null"), 0);
	assert_int_equal(shell(w->s, "cd ws && GARTH_GATEWAY=1 git commit -q --allow-empty -m x"), 0);
	asked(w, "");
}

static void the_branch_cannot_be_removed(void **state)
{
	struct world *w = *state;

	assert_int_not_equal(
		shell(w->s, "cd ws && git checkout -q --detach && git branch -D garth/fix 2>../err"), 0);
	assert_err_has(w, "BLOCKED: garth/fix is the task's branch");
	assert_int_not_equal(shell(w->s, "cd ws && git branch -m garth/fix x 2>../err"), 0);
	assert_err_has(w, "You tried to: remove or rename garth/fix\n");
	asked(w, "");
}

/* Packing refs looks like creating and deleting them. */
static void upkeep_is_no_move(void **state)
{
	struct world *w = *state;

	no(w, "\"message\":\"no\"");
	assert_int_equal(
		shell(w->s,
			"cd ws && git pack-refs --all --prune && test ! -e .git/refs/heads/garth/fix && "
			"GARTH_GATEWAY=1 git commit -q --allow-empty -m x && git gc -q && "
			"test ! -e .git/refs/heads/garth/fix && git rev-parse -q --verify garth/fix >/dev/null"),
		0);
	asked(w, "");
	/* packed, it cannot be removed either, whether or not there is a file */
	assert_int_not_equal(shell(w->s, "cd ws && git update-ref -d refs/heads/garth/fix 2>../err"), 0);
	assert_err_has(w, "BLOCKED: garth/fix is");
	assert_int_equal(
		shell(w->s, "cd ws && h=$(git rev-parse HEAD) && echo $h >.git/refs/heads/garth/fix"), 0);
	assert_int_not_equal(shell(w->s, "cd ws && git update-ref -d refs/heads/garth/fix HEAD 2>../err"), 0);
	assert_err_has(w, "BLOCKED: garth/fix is");
	assert_int_not_equal(
		shell(w->s, "cd ws && git checkout -q --detach && git branch -D garth/fix 2>../err"), 0);
	assert_err_has(w, "BLOCKED: garth/fix is");
	assert_int_not_equal(shell(w->s, "cd ws && git branch -m garth/fix x 2>../err"), 0);
	assert_err_has(w, "BLOCKED: garth/fix is");
	assert_int_equal(shell(w->s, "cd ws && git rev-parse -q --verify garth/fix >/dev/null"), 0);
	asked(w, "");
}

static void without_a_gateway_commits_are_drafts(void **state)
{
	struct world *w = *state;

	no_gateway(w);
	assert_int_equal(git(w, "commit|-q|--allow-empty|-m|x"), 0);
	assert_content(w->s->fd, "err",
		"garth: the gateway does not answer; this stays a draft until the task ends\n");
	assert_int_equal(git(w, "reset|--hard"), 128);
	assert_content(w->s->fd, "err",
		"BLOCKED: the gateway does not answer\nYou tried to: git reset --hard\n"
		"Instead, you should: try again; what only reads, git add and git commit go on working\n");
	assert_int_equal(git(w, "push"), 128);
	assert_int_equal(git(w, "status|--porcelain"), 0);
}

static void routed_commands_are_asked_about(void **state)
{
	struct world *w = *state;

	assert_int_equal(git(w, "reset|-q|--|a"), 0);
	asked(w, "/api/v1/git/reset {\"args\":[\"-q\",\"--\",\"a\"]}\n");
	assert_int_equal(git(w, "merge|-q|other"), 0);
	asked(w, "/api/v1/git/merge {\"args\":[\"-q\",\"other\"]}\n");
	assert_int_equal(git(w, "switch|garth/fix"), 0);
	asked(w, "/api/v1/git/checkout {\"args\":[\"garth/fix\"]}\n");
	no(w, "\"message\":\"not now\",\"tried\":\"reset\"");
	put(w->s->fd, "ws/a", "2\n");
	assert_int_equal(git(w, "reset|--hard"), 1);
	assert_content(w->s->fd, "err", "BLOCKED: not now\nYou tried to: reset\n");
	assert_content(w->s->fd, "ws/a", "2\n");
}

/* xargs git reset: the gateway accepts a thousand arguments, git more. */
static void long_command_lines_are_cut(void **state)
{
	struct world *w = *state;
	auto_buf asked = BUF_INIT(1 << 20);
	char *argv[2100] = { (char *)"git", (char *)"reset", (char *)"-q", (char *)"--" };
	struct err e = ERR_INIT;
	int words = 0;
	pid_t pid;

	for (int i = 4; i < 2099; i++)
		argv[i] = (char *)"a";
	pid = start_words(w, 2099, argv);
	assert_int_equal(wait_code(pid), 0);
	assert_int_equal(read_file(w->s->fd, "asked", &asked, &e), 0);
	for (const char *p = buf_str(&asked); (p = strstr(p, "\"a\"")); p++)
		words++;
	assert_int_equal(words, 998);
	/* what the gateway itself does is done completely or not at all */
	argv[1] = (char *)"push";
	pid = start_words(w, 2099, argv);
	assert_int_equal(wait_code(pid), 128);
	assert_err_has(w, "BLOCKED: the command line is too long\n");
}

static void blocked_commands_do_nothing(void **state)
{
	static const char *const lines[] = { "rebase|other", "stash", "submodule|update", "merge|main",
		"switch|other", "checkout|other", "checkout|HEAD~0", "checkout|-b|new", "switch|-c|new" };
	struct world *w = *state;
	auto_str before = rev(w, "garth/fix");

	put(w->s->fd, "ws/a", "2\n");
	for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
		auto_str after = NULL;

		assert_int_equal(git(w, lines[i]), 1);
		assert_err_has(w, "BLOCKED: ");
		assert_err_has(w, "You tried to: git ");
		assert_err_has(w, "Instead, you should: ");
		after = rev(w, "HEAD");
		assert_string_equal(before, after);
		assert_content(w->s->fd, "ws/a", "2\n");
	}
	asked(w, "");
	assert_int_equal(
		shell(w->s,
			"cd ws && test \"$(git branch | wc -l)\" = 3 && test $(git symbolic-ref HEAD) = refs/heads/garth/fix"),
		0);
}

static void configuration_changes_rows(void **state)
{
	struct world *w = *state;

	put(w->s->fd, "operations", "stash local\nstatus blocked\n");
	put(w->s->fd, "ws/a", "2\n");
	assert_int_equal(git(w, "stash|-q"), 0);
	assert_content(w->s->fd, "ws/a", "1\n");
	assert_int_equal(git(w, "status"), 1);
	assert_content(
		w->s->fd, "err", "BLOCKED: status is not available in a task\nYou tried to: git status\n");
}

static void checkout_of_files_is_local(void **state)
{
	static const char *const lines[] = { "checkout|a", "checkout|--|a", "checkout|.", "checkout|*",
		"checkout|HEAD|a", "checkout|other|--|a" };
	struct world *w = *state;

	for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
		unlinkat(w->s->fd, "ws/a", 0); /* so that there is no file of that name */
		assert_int_equal(git(w, lines[i]), 0);
		assert_content(w->s->fd, "ws/a", "1\n");
	}
	asked(w, "");
	/* git's own message if it is neither; a name that only a remote has makes no branch */
	assert_int_equal(git(w, "checkout|nothing"), 1);
	assert_err_has(w, "pathspec 'nothing' did not match");
	assert_int_equal(
		shell(w->s,
			"cd ws && git remote add origin . && git update-ref refs/remotes/origin/theirs main"),
		0);
	assert_int_equal(git(w, "checkout|theirs"), 1);
	assert_int_not_equal(shell(w->s, "cd ws && git rev-parse -q --verify refs/heads/theirs"), 0);
}

static void the_gateway_pushes_and_fetches(void **state)
{
	struct world *w = *state;

	put(w->s->fd, "reply",
		"200 {\"output\":\"done\\u001b[2J\\n\",\"refs\":\"list\\u001b[2J\\n\",\"ref\":\"o/m\\u001b[2J\"}");
	assert_int_equal(git(w, "push|origin|\"x\""), 0);
	asked(w, "/api/v1/git/push {\"args\":[\"origin\",\"\\\"x\\\"\"]}\n");
	assert_content(w->s->fd, "err", "done^[[2J\n");
	assert_int_equal(git(w, "ls-remote|origin"), 0);
	out(w, "list^[[2J\n");
	assert_int_equal(git(w, "remote|-v|update|-p"), 0);
	asked(w, "/api/v1/git/fetch {\"args\":[\"-p\"]}\n");
	assert_int_equal(git(w, "pull"), 0);
	asked(w, "/api/v1/git/fetch {\"args\":[]}\n");
	assert_content(w->s->fd, "err", "done^[[2J\ngarth: fetched, and not merged: git merge o/m^[[2J\n");
	no(w, "\"message\":\"policy\"");
	assert_int_equal(git(w, "push"), 1);
	assert_content(w->s->fd, "err", "BLOCKED: policy\nYou tried to: git push\n");
	assert_int_equal(git(w, "fetch"), 128);
	assert_int_equal(git(w, "pull"), 128);
}

static void own_repositories_are_left_alone(void **state)
{
	struct world *w = *state;

	assert_int_equal(
		shell(w->s,
			"git init -q -b main ws/own && git init -q -b main away && for d in ws/own away; do "
			"git -C $d commit -q --allow-empty -m x; done"),
		0);
	assert_int_equal(git(w, "-C|own|switch|-q|-c|new"), 0);
	assert_int_equal(git(w, "-C|own|rebase|-q|main"), 0);
	assert_int_equal(git(w, "-C|../away|stash|list"), 0);
	assert_int_equal(git(w, "--git-dir=../away/.git|commit|-q|--allow-empty|-m|x"), 0);
	asked(w, "");
}

static void trailers_are_added_once(void **state)
{
	struct world *w = *state;
	static const char task[] =
		"branch=refs/heads/garth/fix\ntarget=refs/heads/main\ntrailer=Garth-Task: fix\n";

	put(w->s->fd, "task", task);
	assert_int_equal(git(w, "commit|-q|--allow-empty|-m|x"), 0);
	assert_int_equal(git(w, "log|-1|--format=%B"), 0);
	out(w, "x\n\nGarth-Task: fix\n\n");
	assert_int_equal(git(w, "-c|core.x=y|commit|-q|--amend|--no-edit|--allow-empty"), 0);
	assert_int_equal(git(w, "log|-1|--format=%B"), 0);
	out(w, "x\n\nGarth-Task: fix\n\n");
	assert_int_equal(git(w, "commit|-h"), 129);
}

/* core.hooksPath names another directory: then the shim itself tells the gateway. */
static void without_the_hook_the_shim_tells(void **state)
{
	struct world *w = *state;
	auto_str before = rev(w, "HEAD"), after = NULL;

	assert_int_equal(shell(w->s, "git -C ws config core.hooksPath /nowhere"), 0);
	assert_int_equal(git(w, "commit|-q|--allow-empty|-m|x"), 0);
	asked(w, "/api/v1/git/publish {}\n");
	assert_int_equal(shell(w->s, "GARTH_GATEWAY=1 git -C ws reset -q --hard HEAD~1"), 0);

	no(w, "\"message\":\"no\"");
	put(w->s->fd, "ws/a", "2\n");
	assert_int_equal(git(w, "commit|-qam|two"), 1);
	assert_content(w->s->fd, "err", "BLOCKED: no\nYou tried to: git commit -qam two\n");
	after = rev(w, "HEAD");
	assert_string_equal(before, after);
	assert_int_equal(git(w, "status|--porcelain"), 0);
	out(w, "M  a\n");
	/* if nothing was committed, nothing is undone */
	assert_int_equal(git(w, "commit|--dry-run|-m|x"), 1);
	free(after);
	after = rev(w, "HEAD");
	assert_string_equal(before, after);
}

/* The user's hooks call ours: the gateway is told once. */
static void a_hook_behind_a_hook_tells_once(void **state)
{
	struct world *w = *state;
	auto_buf asked = BUF_SMALL;
	struct err e = ERR_INIT;

	assert_int_equal(
		shell(w->s,
			"mkdir hooks && printf '#!/bin/sh\\nexec %s \"$@\"\\n' \"$PWD/hook\" >hooks/reference-transaction && "
			"chmod +x hooks/* && git -C ws config core.hooksPath \"$PWD/hooks\""),
		0);
	assert_int_equal(git(w, "commit|-q|--allow-empty|-m|x"), 0);
	assert_int_equal(read_file(w->s->fd, "asked", &asked, &e), 0);
	assert_non_null(strstr(buf_str(&asked), "{\"tip\":"));
	assert_null(strstr(buf_str(&asked), "{}"));
}

static void nothing_moved_nothing_asked(void **state)
{
	struct world *w = *state;

	assert_int_equal(git(w, "cherry-pick|--quit"), 0);
	assert_int_equal(git(w, "commit|--dry-run|--allow-empty"), 1);
	asked(w, "");
}

/* When the hook runs, the descriptor's number may belong to another file. */
static void the_hook_writes_to_its_pipe_only(void **state)
{
	struct world *w = *state;

	assert_int_equal(
		shell(w->s,
			"cd ws && : >../innocent && GARTH_TOLD=9:1 git commit -q --allow-empty -m x 9>>../innocent"),
		0);
	assert_content(w->s->fd, "innocent", "");
	/* another pipe is not ours either */
	assert_int_equal(
		shell(w->s,
			"cd ws && GARTH_TOLD=9:1 git commit -q --allow-empty -m x 9>&1 >/dev/null | cat >../innocent"),
		0);
	assert_content(w->s->fd, "innocent", "");
}

/* The test's own git, which says that it runs and waits. */
static void fake_git(struct world *w, const char *script)
{
	auto_str path = xasprintf("%s/fake:%s", w->s->path, getenv("PATH"));

	mkdirat(w->s->fd, "fake", 0755);
	put(w->s->fd, "fake/git", script);
	assert_int_equal(shell(w->s, "chmod +x fake/git"), 0);
	setenv("PATH", path, 1);
}

static void wait_for_file(struct world *w, const char *path)
{
	for (int i = 0; i < 20000 && !there(w->s->fd, path); i++)
		usleep(1000);
	assert_true(there(w->s->fd, path));
}

static void signals_reach_git(void **state)
{
	struct world *w = *state;
	auto_str old = xstrdup(getenv("PATH"));
	int status = 0;
	pid_t pid;

	fake_git(w,
		"#!/bin/sh\ntrap 'echo got; exit 7' TERM\n: >\"$GARTH_WORKSPACE/up\"\nfor i in $(seq 3000); do sleep 0.01; done\n");
	pid = start_git(w, "commit");
	wait_for_file(w, "ws/up");
	kill(pid, SIGTERM);
	assert_int_equal(wait_code(pid), 7);
	out(w, "got\n");
	fake_git(w, "#!/bin/sh\nkill -INT $$\n");
	pid = start_git(w, "commit");
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGINT);
	setenv("PATH", old, 1);
}

static void git_ends_with_the_shim(void **state)
{
	struct world *w = *state;
	auto_str old = xstrdup(getenv("PATH"));
	pid_t pid;

	fake_git(w, "#!/bin/sh\ntrap ': >\"$GARTH_WORKSPACE/down\"; exit' TERM\n: >\"$GARTH_WORKSPACE/up\"\n"
		    "for i in $(seq 3000); do sleep 0.01; done\n");
	pid = start_git(w, "commit");
	wait_for_file(w, "ws/up");
	kill(pid, SIGKILL);
	assert_int_equal(wait_code(pid), 128 + SIGKILL);
	wait_for_file(w, "ws/down");
	setenv("PATH", old, 1);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		world_test(reads_ask_nobody),
		world_test(without_a_task_it_is_git),
		world_test(a_commit_is_told_by_the_hook),
		world_test(a_commit_that_fails_is_gits),
		world_test(a_refused_commit_leaves_all_as_it_was),
		world_test(every_git_is_told),
		world_test(the_branch_cannot_be_removed),
		world_test(upkeep_is_no_move),
		world_test(without_a_gateway_commits_are_drafts),
		world_test(routed_commands_are_asked_about),
		world_test(long_command_lines_are_cut),
		world_test(blocked_commands_do_nothing),
		world_test(configuration_changes_rows),
		world_test(checkout_of_files_is_local),
		world_test(the_gateway_pushes_and_fetches),
		world_test(own_repositories_are_left_alone),
		world_test(trailers_are_added_once),
		world_test(without_the_hook_the_shim_tells),
		world_test(a_hook_behind_a_hook_tells_once),
		world_test(nothing_moved_nothing_asked),
		world_test(the_hook_writes_to_its_pipe_only),
		world_test(signals_reach_git),
		world_test(git_ends_with_the_shim),
	};
	int code;

	if (world_begin(argc, argv, &code))
		return code;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
