#include "testing.h"

#include "base/strvec.h"

static void test_argv_of_nothing(void **state)
{
	auto_strvec v = STRVEC_INIT;

	(void)state;
	assert_non_null(strvec_argv(&v));
	assert_null(strvec_argv(&v)[0]);
	strvec_push(&v, "after");
	assert_string_equal(v.v[0], "after");
	assert_null(v.v[1]);
}

static void test_push(void **state)
{
	static const char *const more[] = { "e", "f", NULL };
	auto_strvec v = STRVEC_INIT;
	char own[] = "a";

	(void)state;
	strvec_push(&v, own);
	own[0] = 'X';
	strvec_pushn(&v, "bcd", 1);
	strvec_pushf(&v, "%s%d", "c", 1);
	strvec_pushl(&v, "d1", "d2", NULL);
	strvec_pushv(&v, more);
	strvec_pushv(&v, NULL);
	assert_int_equal(v.n, 7);
	assert_string_equal(v.v[0], "a");
	assert_string_equal(v.v[1], "b");
	assert_string_equal(v.v[2], "c1");
	assert_string_equal(v.v[4], "d2");
	assert_string_equal(v.v[6], "f");
	assert_null(v.v[7]);
	assert_true(strvec_has(&v, "d1"));
	assert_false(strvec_has(&v, "d"));
}

static void test_always_terminated(void **state)
{
	auto_strvec v = STRVEC_INIT;

	(void)state;
	for (int i = 0; i < 1000; i++) {
		strvec_pushf(&v, "%d", i);
		assert_null(v.v[v.n]);
	}
	assert_string_equal(v.v[999], "999");
}

static void test_sort_by_bytes(void **state)
{
	auto_strvec v = STRVEC_INIT;

	(void)state;
	strvec_sort(&v);
	strvec_pushl(&v, "b", "a-", "a", "B", "\xc3\xa4", "", NULL);
	strvec_sort(&v);
	assert_string_equal(v.v[0], "");
	assert_string_equal(v.v[1], "B");
	assert_string_equal(v.v[2], "a");
	assert_string_equal(v.v[3], "a-");
	assert_string_equal(v.v[4], "b");
	assert_string_equal(v.v[5], "\xc3\xa4");
	assert_null(v.v[6]);
}

static void test_release_twice(void **state)
{
	struct strvec v = STRVEC_INIT;

	(void)state;
	strvec_push(&v, "a");
	strvec_release(&v);
	strvec_release(&v);
	assert_int_equal(v.n, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_argv_of_nothing),
		cmocka_unit_test(test_push),
		cmocka_unit_test(test_always_terminated),
		cmocka_unit_test(test_sort_by_bytes),
		cmocka_unit_test(test_release_twice),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
