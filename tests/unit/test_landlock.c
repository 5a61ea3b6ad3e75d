/* J1: Landlock's tables, without the kernels that they are about. */
#include "testing.h"

#include "jail/landlock.h"

#define EXECUTE    (1ull << 0)
#define WRITE_FILE (1ull << 1)
#define READ_FILE  (1ull << 2)
#define READ_DIR   (1ull << 3)
#define MAKE_REG   (1ull << 8)
#define REFER      (1ull << 13)
#define TRUNCATE   (1ull << 14)
#define IOCTL_DEV  (1ull << 15)

static void rights_grow_with_the_abi(void **state)
{
	(void)state;
	assert_true(landlock_fs_rights(-1) == 0);
	assert_true(landlock_fs_rights(0) == 0);
	assert_true(landlock_fs_rights(1) == 0x1fff);
	assert_true(landlock_fs_rights(2) == (0x1fff | REFER));
	assert_true(landlock_fs_rights(3) == (0x1fff | REFER | TRUNCATE));
	assert_true(landlock_fs_rights(4) == landlock_fs_rights(3));
	assert_true(landlock_fs_rights(5) == (0x1fff | REFER | TRUNCATE | IOCTL_DEV));
	for (int abi = 1; abi < 20; abi++)
		assert_true((landlock_fs_rights(abi) & landlock_fs_rights(abi - 1)) ==
			    landlock_fs_rights(abi - 1));
}

static void newest_known_beyond_the_table(void **state)
{
	(void)state;
	assert_true(landlock_fs_rights(7) == landlock_fs_rights(1000));
	assert_true(landlock_scopes(7) == landlock_scopes(1000));
}

static void scopes_begin_with_six(void **state)
{
	(void)state;
	assert_true(landlock_scopes(0) == 0);
	assert_true(landlock_scopes(5) == 0);
	assert_true(landlock_scopes(6) == 3);
}

static uint64_t rights(enum jail_kind kind, unsigned flags, int abi)
{
	struct jail_row r = { .kind = kind, .flags = flags };

	return landlock_row_rights(abi, &r);
}

static void rows_give_what_they_say(void **state)
{
	(void)state;
	assert_true(rights(JAIL_BIND, 0, 7) == (EXECUTE | READ_FILE | READ_DIR));
	assert_true(rights(JAIL_BIND, JAIL_WRITE, 7) == landlock_fs_rights(7));
	assert_true(rights(JAIL_BIND, JAIL_WRITE, 2) == landlock_fs_rights(2));
	assert_true(rights(JAIL_OVERLAY, 0, 7) == landlock_fs_rights(7));
	assert_true(rights(JAIL_CACHE, 0, 7) == landlock_fs_rights(7));
	assert_true(rights(JAIL_TMPFS, JAIL_WRITE, 7) == landlock_fs_rights(7));
	assert_true(rights(JAIL_TMPFS, 0, 7) == (EXECUTE | READ_FILE | READ_DIR));
	assert_true(rights(JAIL_PROC, 0, 7) == (READ_FILE | READ_DIR));
	assert_true(rights(JAIL_DEV, 0, 7) & IOCTL_DEV);
	assert_true(rights(JAIL_DEV, 0, 7) & WRITE_FILE);
	assert_false(rights(JAIL_DEV, 0, 7) & MAKE_REG);
	assert_true(rights(JAIL_LINK, 0, 7) == 0);
	for (int kind = 0; kind < JAIL_KINDS; kind++)
		assert_true(rights((enum jail_kind)kind, JAIL_WRITE, 0) == 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rights_grow_with_the_abi),
		cmocka_unit_test(newest_known_beyond_the_table),
		cmocka_unit_test(scopes_begin_with_six),
		cmocka_unit_test(rows_give_what_they_say),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
