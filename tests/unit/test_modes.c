#include "testing.h"

#include "base/alloc.h"
#include "keeper/modes.h"

/* What is set and unset after some output, whole and byte by byte. */
static void check(const char *output, const char *set, const char *unset)
{
	for (size_t piece = 1; piece <= strlen(output);
		piece += strlen(output) > 1 ? strlen(output) - 1 : 1) {
		auto_buf on = BUF_SMALL, off = BUF_SMALL;
		struct modes m = { 0 };

		for (size_t at = 0; at < strlen(output); at += piece)
			modes_feed(
				&m, output + at, strlen(output + at) < piece ? strlen(output + at) : piece);
		modes_set(&m, &on);
		modes_unset(&m, &off);
		assert_string_equal(buf_str(&on), set);
		assert_string_equal(buf_str(&off), unset);
	}
}

static void known_modes_are_kept(void **state)
{
	(void)state;
	check("plain text", "", "\x1b[0m");
	check("\x1b[?25l", "\x1b[?25l", "\x1b[?25h\x1b[0m");
	check("\x1b[?1049h\x1b[2J\x1b[?25l\x1b[?25h", "\x1b[?1049h", "\x1b[?1049l\x1b[0m");
	check("\x1b[?1000;1006;2004h", "\x1b[?2004h\x1b[?1006h\x1b[?1000h",
		"\x1b[?1000l\x1b[?1006l\x1b[?2004l\x1b[0m");
	check("\x1b[>1u\x1b[>3u", "\x1b[>3u", "\x1b[<2u\x1b[0m");
	check("\x1b[>1u\x1b[<u\x1b[<9u", "", "\x1b[0m");
	check("\x1b[?1049h\x1b[?2004h\x1b"
	      "c",
		"", "\x1b[0m");
}

static void nothing_unknown_comes_back(void **state)
{
	(void)state;
	check("\x1b[?12345h\x1b[25h\x1b]0;title\x07\x1b[?4294967321h", "", "\x1b[0m");
	check("\x1b\x1b[?25l", "\x1b[?25l", "\x1b[?25h\x1b[0m");
	check("\x1b[?;;;;;;;;;;;;25l", "", "\x1b[0m");
}

static struct modes after(const char *output)
{
	struct modes m = { 0 };

	modes_feed(&m, output, strlen(output));
	return m;
}

/* When a line can be printed between a program's output. */
static void a_line_fits(void **state)
{
	static const char *const fits[] = { "", "lines\r\n", "\x1b[31mred\x1b[0m", "\x1b[?1049hx\x1b[?1049l",
		"\x1b]0;title\x07", "\x1b]0;title\x1b\\", "\x1b[>1u\x1b[<u" };
	static const char *const does_not[] = { "\x1b[?1049h", "\x1b[?25l", "\x1b[?2004h", "\x1b[>1u",
		"\x1b[3", "\x1b", "\x1b]0;tit", "\x1bPstring", "\x1b]0;title\x1b" };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(fits); i++) {
		struct modes m = after(fits[i]);

		if (!modes_plain(&m))
			fail_msg("not after fits[%zu]", i);
	}
	for (size_t i = 0; i < ARRAY_SIZE(does_not); i++) {
		struct modes m = after(does_not[i]);

		if (modes_plain(&m))
			fail_msg("after does_not[%zu]", i);
	}
	/* a mode that is set within a string that never ends is still reset at the end */
	check("\x1b]0;tit\x1b[?25l", "\x1b[?25l", "\x1b[?25h\x1b[0m");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(known_modes_are_kept),
		cmocka_unit_test(nothing_unknown_comes_back),
		cmocka_unit_test(a_line_fits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
