/* J8: the disk limit of a task if nothing is configured. */
#include "testing.h"

#include <signal.h>

#include "base/alloc.h"
#include "task/disk_limit.h"

#define GB (1ull << 30)

static void test_share(void **state)
{
	(void)state;
	/* a quarter, at least 20 GB, never more than nine tenths */
	assert_int_equal(disk_share(400 * GB), 100 * GB);
	assert_int_equal(disk_share(40 * GB), 20 * GB);
	assert_int_equal(disk_share(10 * GB), 9 * GB);
	assert_int_equal(disk_share(0), 0);
}

static void test_near(void **state)
{
	(void)state;
	assert_false(disk_is_near(0, 0));
	assert_false(disk_is_near(79, 100));
	assert_true(disk_is_near(80, 100));
}

static void test_explain(void **state)
{
	auto_str why = disk_explain(128 + SIGXFSZ, 20 * GB, "t");

	(void)state;
	assert_non_null(strstr(why, "garth resume --limit max_disk=40GB t"));
	assert_null(disk_explain(1, 20 * GB, "t"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_share),
		cmocka_unit_test(test_near),
		cmocka_unit_test(test_explain),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
