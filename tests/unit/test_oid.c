#include "testing.h"

#include "base/oid.h"

static const char sha1[] = "00112233445566778899aabbccddeeff01234567",
		  sha256[] = "00112233445566778899aabbccddeeff0123456789abcdef0011223344556677";

static void test_what_is_an_id(void **state)
{
	(void)state;
	assert_true(oid_is(sha1, 20));
	assert_true(oid_is(sha256, 32));
	assert_false(oid_is(sha1, 32));
	assert_false(oid_is(sha256, 20));
	assert_false(oid_is("", 20));
	assert_false(oid_is("00112233445566778899AABBCCDDEEFF01234567", 20));
	assert_false(oid_is("00112233445566778899aabbccddeeff0123456g", 20));
	assert_false(oid_is("00112233445566778899aabbccddeeff01234567\n", 20));
	assert_true(hex_is("a0", 2));
	assert_false(hex_is("a0b", 2));
	assert_false(hex_is("a", 2));
}

static void test_the_id_at_the_beginning(void **state)
{
	char out[OID_SIZE] = "before";

	(void)state;
	assert_false(oid_take("", 20, out));
	assert_false(oid_take(sha256, 20, out));
	assert_false(oid_take(sha1, 32, out));
	assert_false(oid_take(" 00112233445566778899aabbccddeeff01234567", 20, out));
	assert_string_equal(out, "before");
	assert_false(oid_starts(sha256, 20));
	assert_true(oid_starts("00112233445566778899aabbccddeeff01234567 x", 20));
	assert_true(oid_take("00112233445566778899aabbccddeeff01234567 refs/heads/x\n", 20, out));
	assert_string_equal(out, sha1);
	assert_true(oid_take(sha256, 32, out));
	assert_string_equal(out, sha256);
}

static void test_none(void **state)
{
	(void)state;
	assert_true(oid_is_none(""));
	assert_true(oid_is_none("0000000000000000000000000000000000000000"));
	assert_false(oid_is_none("0000000000000000000000000000000000000001"));
	assert_false(oid_is_none(sha1));
}

static void test_bytes_and_text(void **state)
{
	unsigned char raw[OID_RAW_MAX];
	char out[OID_SIZE];

	(void)state;
	assert_true(oid_from_hex(sha256, 32, raw));
	assert_int_equal(raw[10], 0xaa);
	oid_to_hex(raw, 32, out);
	assert_string_equal(out, sha256);
	assert_true(oid_from_hex(sha1, 20, raw));
	assert_int_equal(raw[20], 0);
	oid_to_hex(raw, 20, out);
	assert_string_equal(out, sha1);
	assert_false(oid_from_hex(sha1, 32, raw));
	assert_false(oid_from_hex(sha256, 20, raw));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_is_an_id),
		cmocka_unit_test(test_the_id_at_the_beginning),
		cmocka_unit_test(test_none),
		cmocka_unit_test(test_bytes_and_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
