/* T8: commands that are sent into the jail. */
#include "testing.h"

#include "base/alloc.h"
#include "jail/order.h"

static void describe(struct order_cmd *c)
{
	*c = (struct order_cmd){ .tty = true, .rows = 24, .cols = 65535, .cwd = xstrdup("/w") };
	strvec_pushl(&c->argv, "sh", "-c", "", "two\nlines", NULL);
	strvec_push(&c->env, "PATH=/usr/bin");
}

static void packing_loses_nothing(void **state)
{
	auto_order_cmd c, back = { 0 };
	auto_buf packed = BUF_INIT(ORDER_CMD_MAX);
	struct err e = ERR_INIT;

	(void)state;
	describe(&c);
	order_cmd_pack(&c, &packed);
	assert_int_equal(order_cmd_unpack(packed.data, packed.len, &back, &e), 0);
	assert_true(back.tty);
	assert_int_equal(back.rows, 24);
	assert_int_equal(back.cols, 65535);
	assert_string_equal(back.cwd, "/w");
	assert_int_equal(back.argv.n, 4);
	assert_string_equal(back.argv.v[2], "");
	assert_string_equal(back.argv.v[3], "two\nlines");
	assert_null(back.argv.v[4]);
	assert_int_equal(back.env.n, 1);
}

static void refuse(const struct buf *packed, size_t len)
{
	auto_order_cmd back = { 0 };
	struct err e = ERR_INIT;

	assert_int_equal(order_cmd_unpack(packed->data, len, &back, &e), -1);
	assert_int_equal(e.kind, ERR_START);
	assert_null(back.cwd);
}

static void every_cut_is_refused(void **state)
{
	auto_order_cmd c;
	auto_buf packed = BUF_INIT(ORDER_CMD_MAX);

	(void)state;
	describe(&c);
	order_cmd_pack(&c, &packed);
	for (size_t len = 0; len < packed.len; len++)
		refuse(&packed, len);
	buf_addch(&packed, '\0');
	refuse(&packed, packed.len);
}

static void a_command_has_words_and_a_place(void **state)
{
	struct order_cmd c = { .cwd = "/w" };
	auto_buf no_words = BUF_INIT(ORDER_CMD_MAX), no_place = BUF_INIT(ORDER_CMD_MAX);

	(void)state;
	order_cmd_pack(&c, &no_words);
	refuse(&no_words, no_words.len);
	c.cwd = NULL;
	strvec_push(&c.argv, "true");
	order_cmd_pack(&c, &no_place);
	refuse(&no_place, no_place.len);
	strvec_release(&c.argv);
}

/* A length that would overflow, and a count that would allocate all memory. */
static void huge_numbers_are_refused(void **state)
{
	auto_order_cmd c;
	auto_buf packed = BUF_INIT(ORDER_CMD_MAX);

	(void)state;
	describe(&c);
	order_cmd_pack(&c, &packed);
	for (size_t at = 0; at + 8 <= packed.len; at++) {
		char saved[8];
		auto_order_cmd back = { 0 };
		struct err e = ERR_INIT;

		memcpy(saved, packed.data + at, 8);
		memset(packed.data + at, 0xff, 8);
		(void)order_cmd_unpack(packed.data, packed.len, &back, &e);
		memcpy(packed.data + at, saved, 8);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(packing_loses_nothing),
		cmocka_unit_test(every_cut_is_refused),
		cmocka_unit_test(a_command_has_words_and_a_place),
		cmocka_unit_test(huge_numbers_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
