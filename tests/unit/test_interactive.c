#include "scratch.h"

#include "task/run.h"

#define KIND(...) session_kind((char *[]){ __VA_ARGS__, NULL }, true)

static void test_shells(void **state)
{
	(void)state;
	assert_int_equal(KIND("bash"), SESSION_SHELL);
	assert_int_equal(KIND("/usr/bin/zsh", "-l", "-i"), SESSION_SHELL);
	assert_int_equal(KIND("bash", "--norc"), SESSION_SHELL);
	assert_int_equal(KIND("bash", "-c", "true"), SESSION_BATCH);
	assert_int_equal(KIND("bash", "-lc", "true"), SESSION_BATCH);
	assert_int_equal(KIND("sh", "script.sh"), SESSION_BATCH);
	assert_int_equal(KIND("fish", "--command=ls"), SESSION_BATCH);
	assert_int_equal(KIND("make"), SESSION_BATCH);
}

static void test_agents(void **state)
{
	(void)state;
	assert_int_equal(KIND("claude"), SESSION_AGENT);
	assert_int_equal(KIND("claude", "--model", "x", "fix the login"), SESSION_AGENT);
	assert_int_equal(KIND("claude", "-p", "fix"), SESSION_BATCH);
	assert_int_equal(KIND("/opt/bin/codex", "exec", "fix"), SESSION_BATCH);
	assert_int_equal(KIND("codex"), SESSION_AGENT);
	assert_int_equal(KIND("gemini", "--prompt=fix"), SESSION_BATCH);
	assert_int_equal(KIND("gemini", "--prompt-interactive=fix"), SESSION_AGENT);
	assert_int_equal(KIND("opencode", "run", "fix"), SESSION_BATCH);
	assert_int_equal(KIND("opencode", "--prompt=run it"), SESSION_AGENT);
	assert_int_equal(KIND("goose", "run", "--text=fix"), SESSION_BATCH);
	assert_int_equal(KIND("goose", "run", "--interactive", "--text=fix"), SESSION_AGENT);
}

static void test_no_terminal(void **state)
{
	(void)state;
	assert_int_equal(session_kind((char *[]){ "bash", NULL }, false), SESSION_BATCH);
	assert_int_equal(session_kind((char *[]){ NULL }, true), SESSION_BATCH);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_shells),
		cmocka_unit_test(test_agents),
		cmocka_unit_test(test_no_terminal),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
