/* The word that was meant by a mistyped one. */
#include "testing.h"

#include <string.h>

#include "base/nearest.h"

static size_t distance(const char *a, const char *b)
{
	return nearest_distance(a, strlen(a), b, strlen(b));
}

static void test_distance(void **state)
{
	char longest[66];

	(void)state;
	memset(longest, 'x', 65);
	longest[65] = '\0';
	assert_int_equal(distance("", ""), 0);
	assert_int_equal(distance("", "abc"), 3);
	assert_int_equal(distance("base", "base"), 0);
	assert_int_equal(distance("bases", "base"), 1);
	assert_int_equal(distance("bas", "base"), 1);
	assert_int_equal(distance("bose", "base"), 1);
	/* two letters exchanged are one change, wherever they are */
	assert_int_equal(distance("bsae", "base"), 1);
	assert_int_equal(distance("abse", "base"), 1);
	assert_int_equal(distance("baes", "base"), 1);
	assert_int_equal(distance("kitten", "sitting"), 3);
	assert_true(distance(longest, longest) == SIZE_MAX);
	assert_int_equal(distance(longest + 1, longest + 1), 0);
}

static void meant(const char *typed, const char *want)
{
	static const char *const words[] = { "ls", "diff", "merge", "discard", "archive", "path", NULL };
	char text[NEAREST_TEXT_MAX];

	assert_string_equal(nearest_of(typed, words, text), want);
}

static void test_meant(void **state)
{
	(void)state;
	meant("mrege", " (is 'merge' meant?)");
	meant("sl", " (is 'ls' meant?)");
	meant("dif", " (is 'diff' meant?)");
	meant("dsicrad", " (is 'discard' meant?)");
	/* the beginning of a word */
	meant("disc", " (is 'discard' meant?)");
	meant("arc", " (is 'archive' meant?)");
	/* two changes are too many for a short word */
	meant("puth", " (is 'path' meant?)");
	meant("puto", "");
	meant("ar", "");
	meant("x", "");
	meant("", "");
	meant("frobnicate", "");
}

static void test_first_stays(void **state)
{
	static const char *const words[] = { "fix-1", "fix-2", NULL };
	char text[NEAREST_TEXT_MAX];

	(void)state;
	assert_string_equal(nearest_of("fix-3", words, text), " (is 'fix-1' meant?)");
	/* a nearer one replaces it */
	assert_string_equal(nearest_of("fixx-2", words, text), " (is 'fix-2' meant?)");
}

/* A name that is far too long for the message is cut. */
static void test_long(void **state)
{
	char typed[64], known[66], text[NEAREST_TEXT_MAX];

	(void)state;
	memset(typed, 'x', 63);
	typed[63] = '\0';
	memset(known, 'x', 64);
	known[64] = '\0';
	assert_true(strlen(nearest_of(typed, (const char *const[]){ known, NULL }, text)) < NEAREST_TEXT_MAX);
	assert_non_null(strstr(text, "meant?"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_distance),
		cmocka_unit_test(test_meant),
		cmocka_unit_test(test_first_stays),
		cmocka_unit_test(test_long),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
