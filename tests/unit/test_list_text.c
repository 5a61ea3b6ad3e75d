/* Lists in messages: below the message, and on one line. */
#include "testing.h"

#include "base/list_text.h"

static void test_lines(void **state)
{
	auto_strvec names = STRVEC_INIT;
	auto_buf out = BUF_SMALL;

	(void)state;
	strvec_pushl(&names, "? a", "M dir/b", "? two\n  lines", "? \033[31mred", NULL);
	list_lines(&out, &names, 2, 2);
	assert_string_equal(buf_str(&out), "\n  a\n  dir/b\n  … and 2 more");
	buf_reset(&out);
	list_lines(&out, &names, 2, 9);
	assert_string_equal(buf_str(&out), "\n  a\n  dir/b\n  two   lines\n  ^[[31mred");
}

static void test_more(void **state)
{
	auto_strvec names = STRVEC_INIT;
	auto_buf out = BUF_SMALL;

	(void)state;
	for (int i = 0; i < 1489; i++)
		strvec_push(&names, "x");
	list_lines(&out, &names, 0, 1);
	assert_string_equal(buf_str(&out), "\n  x\n  … and 1,488 more");
}

static void one_line(const char *text, const char *want)
{
	auto_buf out = BUF_SMALL;

	list_on_one_line(&out, text);
	assert_string_equal(buf_str(&out), want);
}

static void test_one_line(void **state)
{
	(void)state;
	one_line("", "");
	one_line("no list", "no list");
	one_line("1 file\n  a", "1 file: a");
	one_line("3 files\n  a\n  b\n  … and 1 more", "3 files: a, b and 1 more");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_more),
		cmocka_unit_test(test_one_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
