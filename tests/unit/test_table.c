#include "testing.h"

#include <locale.h>

#include "base/alloc.h"
#include "base/table.h"
#include "base/width.h"

static const struct table_column columns[] = {
	{ "NAME", 6, false, false },
	{ "STATE", 0, false, false },
	{ "", 0, true, false },
	{ "AGE", 0, false, true },
	{ "LAST", 0, false, false },
};
#define N (sizeof(columns) / sizeof(columns[0]))

static void utf8(void)
{
	assert_non_null(setlocale(LC_CTYPE, "C.UTF-8"));
}

static void check_cut(const char *text, size_t to, const char *want, size_t wide)
{
	auto_buf out = BUF_SMALL;

	assert_int_equal(width_cut(&out, text, to), wide);
	assert_string_equal(buf_str(&out), want);
	assert_int_equal(width_of(buf_str(&out)), wide);
}

static void test_widths(void **state)
{
	(void)state;
	utf8();
	assert_int_equal(width_of(""), 0);
	assert_int_equal(width_of("plain"), 5);
	assert_int_equal(width_of("日本"), 4);
	assert_int_equal(width_of("e\xcc\x81t\xc3\xa9"), 3); /* é as two characters, and as one */
	assert_int_equal(width_of("🚀"), 2);
	assert_int_equal(width_of("\xff\xfe"), 2); /* not UTF-8 */
}

static void test_cuts(void **state)
{
	(void)state;
	utf8();
	check_cut("plain", 5, "plain", 5);
	check_cut("plain", 4, "pla…", 4);
	check_cut("plain", 1, "…", 1);
	check_cut("plain", 0, "", 0);
	/* a wide character is never cut in two */
	check_cut("日本語", 6, "日本語", 6);
	check_cut("日本語", 5, "日本…", 5);
	check_cut("日本語", 4, "日…", 3);
	/* what combines stays with its letter */
	check_cut("e\xcc\x81"
		  "abc",
		2, "e\xcc\x81…", 2);
}

/* In another locale a byte is a column, and the mark is ASCII. */
static void test_other_locales(void **state)
{
	(void)state;
	setlocale(LC_CTYPE, "C");
	check_cut("\xc3\xa9tude", 7, "\xc3\xa9tude", 6);
	check_cut("\xc3\xa9tude", 4, "\xc3\xa9t~", 4);
}

static void add(struct table *t, const char *name, const char *state, const char *mark, const char *last)
{
	const char *cells[] = { name, state, mark, "5m", last }, *shades[N] = { NULL, "\033[31m" };

	table_add(t, cells, shades);
}

static void test_a_table_without_a_width(void **state)
{
	struct table t = { .columns = columns, .n = N };
	auto_strvec lines = STRVEC_INIT;

	(void)state;
	utf8();
	add(&t, "a", "done", "", "said\nso \033[31m");
	add(&t, "日本語-task", "blocked", NULL, "");
	table_lines(&t, &lines);
	assert_int_equal(lines.n, 3);
	assert_string_equal(lines.v[0], "NAME         STATE    AGE  LAST");
	/* cleaned, and on one line */
	assert_string_equal(lines.v[1], "a            done      5m  said so ^[[31m");
	/* no spaces at the end */
	assert_string_equal(lines.v[2], "日本語-task  blocked   5m");
	table_release(&t);
}

static void test_a_column_without_content_is_left_out(void **state)
{
	struct table t = { .columns = columns, .n = N, .colours = true };
	auto_strvec lines = STRVEC_INIT;

	(void)state;
	utf8();
	add(&t, "a", "done", "*", "x");
	add(&t, "b", "", "", "y");
	table_lines(&t, &lines);
	assert_string_equal(lines.v[0], "NAME  STATE     AGE  LAST");
	assert_string_equal(lines.v[1], "a     \033[31mdone\033[0m   *   5m  x");
	assert_string_equal(lines.v[2], "b                5m  y");
	table_release(&t);
}

/* First the last column shrinks, then the widest one that may. */
static void test_every_width(void **state)
{
	const char *long_text = "日本語 and a long line of words that has no end at all";

	(void)state;
	utf8();
	for (size_t width = 15; width < 120; width++) {
		struct table t = { .columns = columns, .n = N, .width = width };
		auto_strvec lines = STRVEC_INIT;

		add(&t, "a-name-that-is-rather-long-for-a-task", "blocked", "*", long_text);
		add(&t, "b", "done", "", "short");
		table_lines(&t, &lines);
		for (size_t i = 0; i < lines.n; i++)
			assert_true(width_of(lines.v[i]) <= width);
		assert_int_equal(
			strstr(lines.v[1], long_text) != NULL, width >= 37 + 2 + 7 + 2 + 1 + 2 + 3 + 2 + 54);
		assert_int_equal(strstr(lines.v[1], "for-a-task") != NULL,
			width >= 37 + 2 + 7 + 2 + 1 + 2 + 3 + 2 + 16);
		assert_non_null(strstr(lines.v[1], "blocked"));
		table_release(&t);
	}
}

/* A last column with a minimum keeps it while others can shrink. */
static void test_the_last_column_has_a_minimum(void **state)
{
	static const struct table_column two[] = { { "NAME", 4, false, false }, { "", 20, false, false } };
	struct table t = { .columns = two, .n = 2, .width = 30 };
	auto_strvec lines = STRVEC_INIT;

	(void)state;
	table_add(&t, (const char *[]){ "a-name-of-this-length", "something that is said of it" },
		(const char *[]){ NULL, NULL });
	table_lines(&t, &lines);
	assert_string_equal(lines.v[1], "a-name-…  something that is s…");
	table_release(&t);
}

/* Hopeless widths end too. */
static void test_no_room(void **state)
{
	struct table t = { .columns = columns, .n = N, .width = 3 };
	auto_strvec lines = STRVEC_INIT;

	(void)state;
	add(&t, "name", "done", "*", "x");
	table_lines(&t, &lines);
	assert_int_equal(lines.n, 2);
	table_release(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_widths),
		cmocka_unit_test(test_cuts),
		cmocka_unit_test(test_other_locales),
		cmocka_unit_test(test_a_table_without_a_width),
		cmocka_unit_test(test_a_column_without_content_is_left_out),
		cmocka_unit_test(test_every_width),
		cmocka_unit_test(test_the_last_column_has_a_minimum),
		cmocka_unit_test(test_no_room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
