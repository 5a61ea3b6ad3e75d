#include "testing.h"

#include "base/alloc.h"
#include "base/path.h"

static void assert_join(const char *dir, const char *name, const char *want)
{
	auto_str got = path_join(dir, name);

	assert_string_equal(got, want);
}

static void test_join(void **state)
{
	(void)state;
	assert_join("/a", "b", "/a/b");
	assert_join("/a/", "b", "/a/b");
	assert_join("/", "b", "/b");
	assert_join("a", "b/c", "a/b/c");
}

static void test_base(void **state)
{
	(void)state;
	assert_string_equal(path_base("/a/b"), "b");
	assert_string_equal(path_base("b"), "b");
	assert_string_equal(path_base("/a/"), "");
}

/* ESCAPES: a sibling whose name begins with ours is not beneath us */
static void test_within_compares_components(void **state)
{
	(void)state;
	assert_true(path_within("/t-1", "/t-1"));
	assert_true(path_within("/t-1/x", "/t-1"));
	assert_true(path_within("/t-1/x", "/t-1/"));
	assert_true(path_within("/t-1/", "/t-1"));
	assert_false(path_within("/t-10", "/t-1"));
	assert_false(path_within("/t-10/x", "/t-1"));
	assert_false(path_within("/t-1", "/t-10"));
	assert_false(path_within("/t", "/t-1"));
	assert_false(path_within("/x/t-1", "/t-1"));
	assert_true(path_within("/anything", "/"));
	assert_true(path_within("/", "/"));
	assert_false(path_within("relative", "/"));
}

static void test_clean(void **state)
{
	static const char *const clean[] = { "/", "/a", "/a/b", "/.a", "/a.", "/..a", "/...", "/a/b c" };
	static const char *const unclean[] = { "", "a", "./a", "//", "/a/", "/a//b", "/.", "/..", "/a/.",
		"/a/..", "/./a", "/../a", "/a/../b", "//a" };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(clean); i++)
		assert_true(path_is_clean(clean[i]));
	for (size_t i = 0; i < ARRAY_SIZE(unclean); i++)
		assert_false(path_is_clean(unclean[i]));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_join),
		cmocka_unit_test(test_base),
		cmocka_unit_test(test_within_compares_components),
		cmocka_unit_test(test_clean),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
