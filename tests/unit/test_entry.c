/* What a commit has at many paths. */
#include "gitrepo.h"

#include "git/entry.h"

static void many_paths_at_once(void **state)
{
	static const struct {
		const char *path;
		bool there;
	} table[] = { { "", false }, { "a", true }, { "a/b", false }, { "d", true }, { "d/", false },
		{ "d/b", true }, { "d/b/c", false }, { "d/c", false }, { "d\nb", false }, { "e", false },
		{ "e/f", false }, { "m", true }, { "m/x", false }, { "t/x", false }, { "x y", true },
		{ "x y/z/deep", true }, { "x y/z/no", false } };
	struct strvec paths = STRVEC_INIT;
	bool there[ARRAY_SIZE(table)];
	struct err e = ERR_INIT;
	auto_fd top = -1, file = -1;
	struct gitrepo g;
	char commit[65];

	gitrepo_make(*state, "r", &g);
	top = open(g.top, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_int_equal(mkdirat(top, "x y", 0755), 0);
	assert_int_equal(mkdirat(top, "x y/z", 0755), 0);
	put(top, "x y/z/deep", "1\n");
	/* a file with what a directory has */
	file = openat(top, "t", O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
	assert_int_equal(write(file, "100644 x\0aaaaaaaaaaaaaaaaaaaaa", 30), 30);
	git_in(&g, "add", ".");
	/* a submodule, whose commit is not here */
	git_in(&g, "update-index", "--add", "--cacheinfo",
		"160000,1111111111111111111111111111111111111111,m");
	git_in(&g, "commit", "-q", "-m", "second");
	snprintf(commit, sizeof(commit), "%s", git_in(&g, "rev-parse", "HEAD"));
	for (size_t i = 0; i < ARRAY_SIZE(table); i++)
		strvec_push(&paths, table[i].path);
	assert_int_equal(entry_are_there(&g.repo, commit, &paths, there, &e), 0);
	for (size_t i = 0; i < ARRAY_SIZE(table); i++)
		if (there[i] != table[i].there)
			fail_msg("%s", table[i].path);
	/* the answers do not depend on others */
	strvec_release(&paths);
	assert_int_equal(entry_are_there(&g.repo, commit, &paths, there, &e), 0);
	strvec_push(&paths, "x y/z/deep");
	assert_int_equal(entry_are_there(&g.repo, commit, &paths, there, &e), 0);
	assert_true(there[0]);
	strvec_release(&paths);
	repo_release(&g.repo);
}

int main(void)
{
	const struct CMUnitTest tests[] = { scratch_test(many_paths_at_once) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
