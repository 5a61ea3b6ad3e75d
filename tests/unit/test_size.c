/* Sizes as people read them, and as the configuration accepts them. */
#include "testing.h"

#include "base/size.h"

static void test_text(void **state)
{
	char t[SIZE_TEXT_MAX];

	(void)state;
	assert_string_equal(size_text(0, t), "0 bytes");
	assert_string_equal(size_text(1, t), "1 byte");
	assert_string_equal(size_text(1023, t), "1023 bytes");
	assert_string_equal(size_text(1536, t), "1.5 KB");
	assert_string_equal(size_text(20ull << 30, t), "20.0 GB");
	assert_string_equal(size_text(UINT64_MAX, t), "16777216.0 TB");
}

static void test_option(void **state)
{
	char t[SIZE_TEXT_MAX];

	(void)state;
	assert_string_equal(size_option(17, t), "17");
	assert_string_equal(size_option(40ull << 20, t), "40MB");
	/* never less than it is */
	assert_string_equal(size_option((40ull << 20) + 1, t), "41MB");
	assert_string_equal(size_option(40ull << 30, t), "40GB");
}

static void test_count(void **state)
{
	char t[COUNT_TEXT_MAX];

	(void)state;
	assert_string_equal(count_text(0, t), "0");
	assert_string_equal(count_text(999, t), "999");
	assert_string_equal(count_text(1000, t), "1,000");
	assert_string_equal(count_text(1489, t), "1,489");
	assert_string_equal(count_text(1000000, t), "1,000,000");
	assert_string_equal(count_text(UINT64_MAX, t), "18,446,744,073,709,551,615");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_text),
		cmocka_unit_test(test_option),
		cmocka_unit_test(test_count),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
