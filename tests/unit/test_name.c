#include "testing.h"

#include "base/alloc.h"
#include "base/name.h"

#define A63 "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"

static void test_good(void **state)
{
	static const char *const good[] = { "a", "0", "login", "fix-123", "v1.2_x", "a.b", "a-", "a_", "lock",
		"a.locks", (A63 "a") };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(good); i++) {
		struct err e = ERR_INIT;

		assert_int_equal(name_check_task(good[i], &e), 0);
	}
}

static void test_bad(void **state)
{
	static const char *const bad[] = { "", ".", "..", "-a", "_a", ".a", "A", "a b", "a/b", "a..b", "a.",
		"a.lock", "a\n", "a\t", "\xc3\xa4", "a~", "a^", "a:", "a?", "a*", "a[", "a\\", "a@{",
		(A63 "aa") };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		struct err e = ERR_INIT;

		assert_int_equal(name_check_task(bad[i], &e), -1);
		assert_int_equal(e.kind, ERR_USAGE);
	}
}

static void test_variables(void **state)
{
	(void)state;
	assert_true(name_is_variable("PATH", 4));
	assert_true(name_is_variable("_x9", 3));
	assert_true(name_is_variable("AB=1", 2));
	assert_false(name_is_variable("AB=1", 4));
	assert_false(name_is_variable("9A", 2));
	assert_false(name_is_variable("", 0));
	assert_false(name_is_variable("A-B", 3));
	assert_false(name_is_variable("A\0B", 3));
}

static void test_suggestions_pass(void **state)
{
	static const char *const texts[] = { "", "/", "claude", "/usr/bin/Claude", "My Task!", "...", "--x--",
		"a.lock", "\xff\xfe", "a..b", "/opt/x.y/run.sh", (A63 A63), ("----" A63) };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		char out[NAME_MAX_LEN + 1];
		struct err e = ERR_INIT;

		name_suggest(texts[i], out);
		assert_int_equal(name_check_task(out, &e), 0);
		name_of_words(texts[i], out);
		assert_int_equal(name_check_task(out, &e), 0);
	}
}

static void test_suggestion_is_recognizable(void **state)
{
	char out[NAME_MAX_LEN + 1];

	(void)state;
	name_suggest("/usr/bin/Claude", out);
	assert_string_equal(out, "claude");
	name_suggest("Fix the  login!", out);
	assert_string_equal(out, "fix-the-login");
	name_suggest("/", out);
	assert_string_equal(out, "task");
}

static void test_words(void **state)
{
	char out[NAME_MAX_LEN + 1];

	(void)state;
	name_of_words("fix the login", out);
	assert_string_equal(out, "fix-the-login");
	name_of_words("  Don't /break/ *main*.\n", out);
	assert_string_equal(out, "dont-break-main");
	name_of_words("one two three four five six", out);
	assert_string_equal(out, "one-two-three-four-five");
	name_of_words("documentation internationalization accessibility", out);
	assert_string_equal(out, "documentation-internationalization");
	name_of_words("...", out);
	assert_string_equal(out, "task");
}

static void test_person(void **state)
{
	static const char *const bad[] = { "", "Bot", "<bot@x>", "Bot <>", "Bot <bot@x> ", "Bot <b<x>",
		"Bo\nt <b@x>", "Bot bot@x>" };
	char *name = NULL, *mail = NULL;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		assert_false(name_split_person(bad[i], &name, &mail));
	assert_true(name_split_person("A Bot  <bot@example.com>", &name, &mail));
	assert_string_equal(name, "A Bot");
	assert_string_equal(mail, "bot@example.com");
	free(name);
	free(mail);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_person),
		cmocka_unit_test(test_good),
		cmocka_unit_test(test_bad),
		cmocka_unit_test(test_variables),
		cmocka_unit_test(test_suggestions_pass),
		cmocka_unit_test(test_suggestion_is_recognizable),
		cmocka_unit_test(test_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
