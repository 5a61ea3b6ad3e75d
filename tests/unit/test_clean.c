#include "testing.h"

#include "base/alloc.h"
#include "base/clean.h"

static void assert_clean_n(const char *text, size_t len, bool colours, const char *want)
{
	auto_buf b = BUF_SMALL;

	clean_text(&b, text, len, colours);
	assert_string_equal(buf_str(&b), want);
}

static void assert_clean(const char *text, bool colours, const char *want)
{
	assert_clean_n(text, strlen(text), colours, want);
}

static void test_text_stays(void **state)
{
	(void)state;
	assert_clean("a b\tc\nd", false, "a b\tc\nd");
	assert_clean("gr\xc3\xbc\xc3\x9f \xe2\x9c\x93 \xf0\x9f\x98\x80", false,
		"gr\xc3\xbc\xc3\x9f \xe2\x9c\x93 \xf0\x9f\x98\x80");
	assert_clean("", false, "");
}

static void test_controls_are_shown(void **state)
{
	(void)state;
	assert_clean("\033[2J\033]0;t\007", false, "^[[2J^[]0;t^G");
	assert_clean("a\bb\x7f", false, "a^Hb^?");
	assert_clean_n("a\0b", 3, false, "a^@b");
	assert_clean("line\r\nover\rwritten", false, "line\nover^Mwritten");
	assert_clean("\xc2\x9b"
		     "31m",
		false, "\\xc2\\x9b31m");
}

static void test_not_utf8_is_shown(void **state)
{
	(void)state;
	assert_clean("\xff", false, "\\xff");
	assert_clean("\x80", false, "\\x80");
	assert_clean("a\xe2\x9c", false, "a\\xe2\\x9c");
	assert_clean("\xc0\xaf", false, "\\xc0\\xaf");
	assert_clean("\xe0\x80\xaf", false, "\\xe0\\x80\\xaf");
	assert_clean("\xed\xa0\x80", false, "\\xed\\xa0\\x80");
	assert_clean("\xf0\x80\x80\xaf", false, "\\xf0\\x80\\x80\\xaf");
	assert_clean("\xf4\x90\x80\x80", false, "\\xf4\\x90\\x80\\x80");
}

/* ESCAPES 38 */
static void test_the_invisible_is_shown(void **state)
{
	static const struct {
		const char *text, *want;
	} rows[] = {
		{ "a\xc2\xad"
		  "b",
			"a<U+00AD>b" },
		{ "a\xc2\xa0"
		  "b",
			"a<U+00A0>b" },
		{ "\xe2\x80\x87", "<U+2007>" },
		{ "\xe2\x80\x80\xe2\x80\x8a\xe2\x81\x9f", "<U+2000><U+200A><U+205F>" },
		{ "\xe1\x9a\x80", "<U+1680>" },
		{ "\xf0\x96\xbf\xa4", "<U+16FE4>" },
		{ "\xe2\x80\xaf", "<U+202F>" },
		{ "\xd8\x9c", "<U+061C>" },
		{ "\xcd\x8f", "<U+034F>" },
		{ "\xe1\x85\x9f\xe1\x85\xa0", "<U+115F><U+1160>" },
		{ "\xe1\xa0\x8e", "<U+180E>" },
		{ "\xe2\x80\x8b", "<U+200B>" },
		{ "\xe2\x80\xa8\xe2\x80\xa9", "<U+2028><U+2029>" },
		{ "\xe2\x80\xae", "<U+202E>" },
		{ "\xe2\x81\xa6", "<U+2066>" },
		{ "\xe2\xa0\x80", "<U+2800>" },
		{ "\xe3\x85\xa4", "<U+3164>" },
		{ "\xef\xb8\x8f", "<U+FE0F>" },
		{ "\xef\xbb\xbf", "<U+FEFF>" },
		{ "\xef\xbe\xa0", "<U+FFA0>" },
		{ "\xf3\xa0\x81\x81\xf3\xa0\x87\xaf", "<U+E0041><U+E01EF>" },
		/* an emoji of two parts: the joiner between them is kept */
		{ "\xf0\x9f\x91\xa9\xe2\x80\x8d\xf0\x9f\x92\xbb",
			"\xf0\x9f\x91\xa9<U+200D>\xf0\x9f\x92\xbb" },
		/* visible characters next to the invisible ones */
		{ "\xe2\x80\x90\xe2\x80\xa7\xe2\x80\xb0\xc2\xac\xc2\xae",
			"\xe2\x80\x90\xe2\x80\xa7\xe2\x80\xb0\xc2\xac\xc2\xae" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		assert_clean(rows[i].text, false, rows[i].want);
}

static void test_colours_stay_when_wanted(void **state)
{
	(void)state;
	assert_clean("\033[1;31mred\033[m\033[38:2:1:2:3mx", true, "\033[1;31mred\033[m\033[38:2:1:2:3mx");
	assert_clean("\033[1;31mred", false, "^[[1;31mred");
	assert_clean("\033[2J\033[", true, "^[[2J^[[");
	assert_clean("\033[?25l", true, "^[[?25l");
	assert_clean_n("\033[31m", 4, true, "^[[31");
	/* a sequence that hides the text after it is not kept */
	assert_clean("\033[8mx", true, "^[[8mx");
	assert_clean("\033[1;08;31mx", true, "^[[1;08;31mx");
	assert_clean("\033[38;5;8m\033[48;2;8;8;8mx", true, "\033[38;5;8m\033[48;2;8;8;8mx");
	assert_clean("\033[38;5;8;8mx", true, "^[[38;5;8;8mx");
	assert_clean("\033[38;8mx", true, "^[[38;8mx");
	assert_clean("\033[38;5;38;8mx", true, "^[[38;5;38;8mx");
	/* one that may hide it, because terminals do not agree on where a colour ends */
	assert_clean("\033[38:5;8mx", true, "^[[38:5;8mx");
	assert_clean("\033[38:2;8mx", true, "^[[38:2;8mx");
	assert_clean("\033[48;5:1;8mx", true, "^[[48;5:1;8mx");
	assert_clean("\033[38;2;8mx", true, "^[[38;2;8mx");
	assert_clean("\033[38:2::1:2:8mx", true, "^[[38:2::1:2:8mx");
	assert_clean("\033[1:8mx", true, "^[[1:8mx");
	assert_clean("\033[4294967304mx", true, "^[[4294967304mx");
	assert_clean("\033[38:2::1:2:3m\033[38:5:8m\033[4:3;58;5;8mx\033[m\033[;1m", true,
		"\033[38:2::1:2:3m\033[38:5:8m\033[4:3;58;5;8mx\033[m\033[;1m");
	assert_clean("\033[38;5;88mx\033[28m\033[18m", true, "\033[38;5;88mx\033[28m\033[18m");
}

static void test_colours_are_left_out(void **state)
{
	static const char text[] = "\033[31mred\033[0m \033[8mno\033[2J";
	auto_buf out = BUF_SMALL;

	(void)state;
	clean_without_colours(&out, text, strlen(text));
	assert_string_equal(buf_str(&out), "red \033[8mno\033[2J");
}

/* What a piece of a text that goes on must keep back. */
static void test_pieces_stay_whole(void **state)
{
	(void)state;
	assert_int_equal(clean_whole("", 0), 0);
	assert_int_equal(clean_whole("ab\n", 3), 3);
	assert_int_equal(clean_whole("a\303", 2), 1);
	assert_int_equal(clean_whole("a\342\202", 3), 1);
	assert_int_equal(clean_whole("\303\251", 2), 2);
	assert_int_equal(clean_whole("a\r", 2), 1);
	assert_int_equal(clean_whole("a\033", 2), 1);
	assert_int_equal(clean_whole("a\033[1;3", 6), 1);
	assert_int_equal(clean_whole("a\033[1m", 5), 5);
	assert_int_equal(clean_whole("a\033[?2", 5), 5);
	/* a sequence that is never completed is not kept without end */
	assert_int_equal(clean_whole("\202\202\202\202\202", 5), 5);
	assert_int_equal(clean_whole("\033[1111111111111111111111111111111111", 36), 36);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_text_stays),
		cmocka_unit_test(test_controls_are_shown),
		cmocka_unit_test(test_not_utf8_is_shown),
		cmocka_unit_test(test_the_invisible_is_shown),
		cmocka_unit_test(test_colours_stay_when_wanted),
		cmocka_unit_test(test_colours_are_left_out),
		cmocka_unit_test(test_pieces_stay_whole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
