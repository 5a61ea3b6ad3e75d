#include "testing.h"

#include "base/buf.h"

static void test_empty(void **state)
{
	auto_buf b = BUF_SMALL;
	char *s;

	(void)state;
	assert_string_equal(buf_str(&b), "");
	s = buf_steal(&b);
	assert_string_equal(s, "");
	free(s);
}

static void test_adds_bytes(void **state)
{
	auto_buf b = BUF_SMALL;

	(void)state;
	assert_true(buf_addstr(&b, "abc"));
	assert_true(buf_addch(&b, '-'));
	assert_true(buf_printf(&b, "%d:%s", 42, "x"));
	assert_true(buf_add(&b, "\0z", 2));
	assert_int_equal(b.len, 10);
	assert_memory_equal(b.data, "abc-42:x\0z", 11);
	buf_cut(&b, 3);
	assert_string_equal(buf_str(&b), "abc");
	buf_cut(&b, 100);
	assert_int_equal(b.len, 3);
}

static void test_limit(void **state)
{
	auto_buf b = BUF_INIT(8);

	(void)state;
	assert_true(buf_addstr(&b, "12345678"));
	assert_false(b.overflow);
	assert_false(buf_addch(&b, '9'));
	assert_true(b.overflow);
	assert_string_equal(buf_str(&b), "12345678");
	assert_false(buf_printf(&b, "%s", "x"));
	assert_false(buf_add(&b, "x", SIZE_MAX));
	assert_int_equal(b.len, 8);
	buf_reset(&b);
	assert_false(b.overflow);
	assert_false(buf_addstr(&b, "123456789"));
	assert_string_equal(buf_str(&b), "");
}

static void test_reserve(void **state)
{
	auto_buf b = BUF_INIT(1000);
	char *at = buf_reserve(&b, 1000);

	(void)state;
	assert_non_null(at);
	memset(at, 'r', 1000);
	b.len += 1000;
	assert_null(buf_reserve(&b, 1));
	assert_true(b.overflow);
}

static void test_grows_by_single_bytes(void **state)
{
	auto_buf b = BUF_INIT(100000);
	char *s;

	(void)state;
	for (int i = 0; i < 100000; i++)
		assert_true(buf_addch(&b, (char)('a' + i % 26)));
	for (int i = 0; i < 100000; i++)
		assert_int_equal(b.data[i], 'a' + i % 26);
	s = buf_steal(&b);
	assert_int_equal(strlen(s), 100000);
	assert_int_equal(b.len, 0);
	assert_string_equal(buf_str(&b), "");
	free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_empty),
		cmocka_unit_test(test_adds_bytes),
		cmocka_unit_test(test_limit),
		cmocka_unit_test(test_reserve),
		cmocka_unit_test(test_grows_by_single_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
