#include "testing.h"

#include "base/alloc.h"
#include "base/shell_word.h"
#include "sys/proc.h"

/* What a shell makes of the word must be the text again. */
static void assert_same(const char *word, const char *text)
{
	auto_str command = xasprintf("printf '[%%s]' %s", word), want = xasprintf("[%s]", text);
	char *const argv[] = { (char[]){ "/bin/sh" }, (char[]){ "-c" }, command, NULL }, *const env[] = {
		NULL
	};
	struct proc_spec p = { .argv = argv, .env = env };
	auto_buf out = BUF_SMALL;
	struct err e = ERR_INIT;
	int status;

	assert_int_equal(proc_run(&p, NULL, &out, NULL, &status, &e), 0);
	assert_int_equal(status, 0);
	assert_string_equal(buf_str(&out), want);
}

static void test_words(void **state)
{
	static const char *const texts[] = { "plain", "/a/b-c_d.e", "", "it's", "'", "''", "a'; echo x; '",
		"$(echo x)", "`echo x`", "a b", "a\nb", "a\\", "\"", "!x", "#x", "~", "*", "a;b", "a&b",
		"a|b", "a>b", "(a)", "{a,b}", "\xff\xfe", "\xc3\xa9" };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		auto_str word = shell_word(texts[i]), quoted = shell_quoted(texts[i]);

		assert_same(word, texts[i]);
		assert_same(quoted, texts[i]);
	}
}

static void test_only_if_needed(void **state)
{
	auto_str plain = shell_word("refs/a-b_c.d"), other = shell_word("a;b"), path = shell_quoted("/a");

	(void)state;
	assert_string_equal(plain, "refs/a-b_c.d");
	assert_string_equal(other, "'a;b'");
	assert_string_equal(path, "'/a'");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_words),
		cmocka_unit_test(test_only_if_needed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
