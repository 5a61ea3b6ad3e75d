#include "git/user_settings.h"

#include "testing.h"

static void carries_what_is_about_the_work(void **state)
{
	(void)state;
	assert_true(settings_is_copied("user.name", "Ann"));
	assert_true(settings_is_copied("merge.conflictstyle", "zdiff3"));
	assert_true(settings_is_copied("diff.algorithm", "histogram"));
	assert_true(settings_is_copied("color.diff.meta", "yellow bold"));
	assert_true(settings_is_copied("pretty.mine", "format:%h %s"));
	assert_true(settings_is_copied("status.short", "true"));
}

static void leaves_out_programs_files_and_secrets(void **state)
{
	(void)state;
	assert_false(settings_is_copied("diff.external", "prog"));
	assert_false(settings_is_copied("diff.word.textconv", "prog"));
	assert_false(settings_is_copied("diff.word.command", "prog"));
	assert_false(settings_is_copied("diff.orderfile", "/etc/passwd"));
	assert_false(settings_is_copied("log.showsignature", "true"));
	assert_false(settings_is_copied("core.pager", "less"));
	assert_false(settings_is_copied("core.editor", "vi"));
	assert_false(settings_is_copied("core.hookspath", "/x"));
	assert_false(settings_is_copied("interactive.difffilter", "prog"));
	assert_false(settings_is_copied("url.https://token@host/.insteadof", "x"));
	assert_false(settings_is_copied("http.extraheader", "Authorization: x"));
	assert_false(settings_is_copied("rebasex.y", "1"));
	assert_false(settings_is_copied("log.date", "two\nlines"));
	assert_false(settings_is_copied("log", "x"));
}

static void carries_aliases_of_plain_commands(void **state)
{
	(void)state;
	assert_true(settings_is_copied("alias.st", "status"));
	assert_true(settings_is_copied("alias.lg", "log --graph --format='%C(auto)%h %s <%ae>' -10"));
	assert_true(settings_is_copied("alias.co", "checkout"));
	assert_true(settings_is_copied("alias.fix", "commit --fixup"));
}

static void leaves_out_aliases_that_run_programs(void **state)
{
	static const char *const bad[] = { "", "!sh -c x", "-c core.pager=x log", "--exec-path=/x log",
		"log; rm x", "log $(x)", "log `x`", "log | x", "log & x", "rebase --exec make",
		"rebase --exec=make", "rebase -x make", "grep -Oless x", "diff --ext-diff", "log --textconv",
		"fetch --upload-pack=x", "log\\nx", "Log", "difftool --tool=x", "difftool -x prog" };

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		if (settings_is_copied("alias.x", bad[i]))
			fail_msg("carried: %s", bad[i]);
	assert_false(settings_is_copied("alias.a.b", "status"));
}

static void writes_what_git_reads(void **state)
{
	auto_buf out = BUF_SMALL;

	(void)state;
	settings_put(&out, "color.a \"b\".meta", "x\\y\"z");
	assert_string_equal(buf_str(&out), "[color \"a \\\"b\\\"\"]\n\tmeta = \"x\\\\y\\\"z\"\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(carries_what_is_about_the_work),
		cmocka_unit_test(leaves_out_programs_files_and_secrets),
		cmocka_unit_test(carries_aliases_of_plain_commands),
		cmocka_unit_test(leaves_out_aliases_that_run_programs),
		cmocka_unit_test(writes_what_git_reads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
