#include "testing.h"

#include <errno.h>

#include "base/err.h"

static void test_set(void **state)
{
	struct err e = ERR_INIT;

	(void)state;
	err_hint(&e, "old hint");
	e.sys = 7;
	assert_int_equal(err_set(&e, ERR_EXISTS, "task '%s' is there", "a"), -1);
	assert_int_equal(e.kind, ERR_EXISTS);
	assert_string_equal(e.msg, "task 'a' is there");
	assert_int_equal(e.sys, 0);
	assert_string_equal(e.hint, "");
}

static void test_sys_keeps_errno(void **state)
{
	struct err e = ERR_INIT;

	(void)state;
	errno = ENOSPC;
	assert_int_equal(err_sys(&e, "cannot write '%s'", "f"), -1);
	assert_int_equal(e.kind, ERR_FAILED);
	assert_int_equal(e.sys, ENOSPC);
	assert_string_equal(e.msg, "cannot write 'f': No space left on device");
}

static void test_wrap(void **state)
{
	struct err e = ERR_INIT;

	(void)state;
	err_set(&e, ERR_NOTFOUND, "no such ref");
	err_hint(&e, "garth ls");
	assert_int_equal(err_wrap(&e, "cannot publish '%s'", "t"), -1);
	assert_int_equal(e.kind, ERR_NOTFOUND);
	assert_string_equal(e.msg, "cannot publish 't': no such ref");
	assert_string_equal(e.hint, "garth ls");
}

static void test_long_messages_are_cut(void **state)
{
	struct err e = ERR_INIT;
	char text[2000];

	(void)state;
	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	err_set(&e, ERR_FAILED, "%s", text);
	assert_int_equal(strlen(e.msg), sizeof(e.msg) - 1);
	err_wrap(&e, "outer");
	assert_int_equal(strlen(e.msg), sizeof(e.msg) - 1);
	assert_memory_equal(e.msg, "outer: xxx", 10);
	for (size_t n = sizeof(e.msg) - 6; n < sizeof(e.msg) + 3; n++) {
		err_wrap(&e, "%.*s", (int)n, text);
		assert_true(strlen(e.msg) < sizeof(e.msg));
	}
	/* a part of a command is none */
	err_hint(&e, "%s", text);
	assert_string_equal(e.hint, "");
	err_hint(&e, "%.*s", (int)sizeof(e.hint) - 1, text);
	assert_int_equal(strlen(e.hint), sizeof(e.hint) - 1);
}

/* O3: the documented exit codes */
static void test_exit_codes(void **state)
{
	static const int codes[ERR_KINDS] = { [ERR_NONE] = 0,
		[ERR_FAILED] = 1,
		[ERR_USAGE] = 2,
		[ERR_CONFIG] = 2,
		[ERR_NOTFOUND] = 3,
		[ERR_EXISTS] = 1,
		[ERR_BUSY] = 1,
		[ERR_REFUSED] = 4,
		[ERR_CONFLICT] = 5,
		[ERR_BLOCKED] = 6,
		[ERR_START] = 125,
		[ERR_PROGRAM] = 127 };

	(void)state;
	for (int k = 0; k < ERR_KINDS; k++) {
		assert_int_equal(err_exit_code(k), codes[k]);
		assert_non_null(err_code(k));
		for (int j = 0; j < k; j++)
			assert_string_not_equal(err_code(k), err_code(j));
	}
	assert_int_equal(err_exit_code(ERR_KINDS), 1);
	assert_string_equal(err_code(ERR_NOTFOUND), "not_found");
}

static void test_http_statuses(void **state)
{
	(void)state;
	assert_int_equal(err_http_status(ERR_NONE), 200);
	assert_int_equal(err_http_status(ERR_FAILED), 500);
	assert_int_equal(err_http_status(ERR_USAGE), 400);
	assert_int_equal(err_http_status(ERR_NOTFOUND), 404);
	assert_int_equal(err_http_status(ERR_REFUSED), 403);
	assert_int_equal(err_http_status(ERR_CONFLICT), 409);
	assert_int_equal(err_http_status(ERR_BUSY), 409);
	assert_int_equal(err_http_status(ERR_KINDS), 500);
}

/* Several kinds share an exit code: which kind a code becomes, and what an unknown code becomes. */
static void test_kinds_of_numbers(void **state)
{
	(void)state;
	assert_int_equal(err_kind_of_exit(0), ERR_NONE);
	assert_int_equal(err_kind_of_exit(1), ERR_FAILED);
	assert_int_equal(err_kind_of_exit(2), ERR_USAGE);
	assert_int_equal(err_kind_of_exit(5), ERR_CONFLICT);
	assert_int_equal(err_kind_of_exit(77), ERR_FAILED);
	assert_int_equal(err_kind_of_http(400), ERR_USAGE);
	assert_int_equal(err_kind_of_http(403), ERR_REFUSED);
	assert_int_equal(err_kind_of_http(404), ERR_NOTFOUND);
	assert_int_equal(err_kind_of_http(409), ERR_CONFLICT);
	assert_int_equal(err_kind_of_http(500), ERR_FAILED);
	assert_int_equal(err_kind_of_http(429), ERR_FAILED);
	assert_int_equal(err_kind_of_http(200), ERR_FAILED);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_set),
		cmocka_unit_test(test_sys_keeps_errno),
		cmocka_unit_test(test_wrap),
		cmocka_unit_test(test_long_messages_are_cut),
		cmocka_unit_test(test_exit_codes),
		cmocka_unit_test(test_http_statuses),
		cmocka_unit_test(test_kinds_of_numbers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
