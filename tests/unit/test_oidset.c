#include "testing.h"

#include "base/alloc.h"
#include "publish/oidset.h"

static void name_of(unsigned n, unsigned hash_len, unsigned char out[32])
{
	memset(out, 0, 32);
	/* many ids with the same first bytes: a table that hashes only those has long chains */
	out[hash_len - 1] = (unsigned char)n;
	out[hash_len - 2] = (unsigned char)(n >> 8);
	out[3] = (unsigned char)(n >> 16);
}

static void fill(unsigned hash_len)
{
	auto_oidset s = { .hash_len = hash_len };
	unsigned char oid[32];

	assert_false(oidset_has_raw(&s, (const unsigned char *)"01234567890123456789012345678901"));
	for (unsigned i = 0; i < 70000; i++) {
		name_of(i, hash_len, oid);
		assert_true(oidset_add_raw(&s, oid));
		*oidset_mark(&s, oid) = i;
	}
	assert_int_equal(s.n, 70000);
	for (unsigned i = 0; i < 140000; i++) {
		name_of(i, hash_len, oid);
		assert_int_equal(oidset_has_raw(&s, oid), i < 70000);
		if (i < 70000) {
			assert_false(oidset_add_raw(&s, oid));
			assert_int_equal(*oidset_mark(&s, oid), i);
		} else {
			assert_null(oidset_mark(&s, oid));
		}
	}
	assert_int_equal(s.n, 70000);
}

static void test_fill(void **state)
{
	(void)state;
	fill(20);
	fill(32);
}

static void test_hex(void **state)
{
	static const char one[] = "00112233445566778899aabbccddeeff01234567";
	static const char *const bad[] = { "", "0", "00112233445566778899aabbccddeeff0123456",
		"00112233445566778899aabbccddeeff012345678", "00112233445566778899AABBccddeeff01234567",
		"g0112233445566778899aabbccddeeff01234567", "0011223344556677 899aabbccddeeff01234567" };
	auto_oidset s = { .hash_len = 20 };
	unsigned char raw[32];
	char hex[65];

	(void)state;
	assert_true(oidset_add(&s, one));
	assert_false(oidset_add(&s, one));
	assert_true(oidset_has(&s, one));
	assert_true(oid_from_hex(one, 20, raw));
	assert_true(oidset_has_raw(&s, raw));
	oid_to_hex(raw, 20, hex);
	assert_string_equal(hex, one);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		assert_false(oidset_add(&s, bad[i]));
		assert_false(oidset_has(&s, bad[i]));
	}
	assert_int_equal(s.n, 1);
	assert_false(oid_from_hex(one, 32, raw));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fill),
		cmocka_unit_test(test_hex),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
