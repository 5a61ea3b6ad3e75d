/* G4: how the shim quotes what it asks, reads the JSON that the gateway says, and says no. */
#include "scratch.h"

#include "base/alloc.h"
#include "shim/shim.h"

static void quoting(void **state)
{
	static const struct {
		const char *in, *out;
	} rows[] = {
		{ "", "\"\"" },
		{ "a\"b\\c", "\"a\\\"b\\\\c\"" },
		{ "a\nb\x01\x7f", "\"a\\u000ab\\u0001\\u007f\"" },
		{ "gr\xc3\xbc\xc3\x9f\xf0\x9f\x8c\xb1", "\"gr\xc3\xbc\xc3\x9f\xf0\x9f\x8c\xb1\"" },
		{ "\xff|\xc3|\xc0\x80|\xed\xa0\x80|\xf4\x90\x80\x80",
			"\"\\ufffd|\\ufffd|\\ufffd\\ufffd|\\ufffd\\ufffd\\ufffd|\\ufffd\\ufffd\\ufffd\\ufffd\"" },
		{ "cut \xe2\x82", "\"cut \\ufffd\\ufffd\"" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		auto_buf out = BUF_SMALL;

		ask_quote(&out, rows[i].in);
		assert_string_equal(buf_str(&out), rows[i].out);
	}
}

static const char *error_of(const char *json, const char *member, struct buf *out)
{
	auto_http_answer a = ANSWER_INIT;

	buf_addstr(&a.body, json);
	return answer_error(&a, member, out) ? buf_str(out) : NULL;
}

static void errors_are_found(void **state)
{
	static const struct {
		const char *json, *text;
	} rows[] = {
		{ "{\"error\":{\"code\":\"x\",\"message\":\"hello\"}}", "hello" },
		{ " { \"a\" : [1, {\"error\":{\"message\":\"no\"}}, null, \"]\"] , \"error\" : { \"message\" : \"yes\" } } ",
			"yes" },
		{ "{\"error\":{\"message\":\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"}}", "\"\\/\b\f\n\r\t" },
		{ "{\"error\":{\"message\":\"\\u00fc\\u20ac\\ud83c\\udf31\"}}",
			"\xc3\xbc\xe2\x82\xac\xf0\x9f\x8c\xb1" },
		{ "{\"error\":{\"message\":\"\\ud83c|\\udf31|\\ud83c\\u0041\"}}",
			"\xef\xbf\xbd|\xef\xbf\xbd|\xef\xbf\xbd"
			"A" },
		{ "{\"err\\u006fr\":{\"message\":\"yes\"}}", "yes" },
		{ "{\"message\":\"no\"}", NULL },
		{ "{\"error\":\"message\"}", NULL },
		{ "{\"error\":{\"message\":5}}", NULL },
		{ "{\"error\":{\"message\":\"open", NULL },
		{ "{\"error\":{\"message\":\"\\x\"}}", NULL },
		{ "{\"error\":{\"message\":\"\\u12\"}}", NULL },
		{ "{\"error\":{}}", NULL },
		{ "", NULL },
		{ "[]", NULL },
		{ "{\"a\":", NULL },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		auto_buf out = BUF_SMALL;
		const char *got = error_of(rows[i].json, "message", &out);

		if (!rows[i].text != !got)
			fail_msg("%s: %s", rows[i].json, got ? got : "nothing");
		if (got)
			assert_string_equal(got, rows[i].text);
		else
			assert_int_equal(out.len, 0);
	}
}

static void errors_are_bounded(void **state)
{
	auto_buf deep = BUF_INIT(1 << 20), small = BUF_INIT(4);
	auto_buf out = BUF_SMALL;

	(void)state;
	buf_addstr(&deep, "{\"a\":");
	for (int i = 0; i < 100000; i++)
		buf_addch(&deep, '[');
	assert_null(error_of(buf_str(&deep), "message", &out));
	assert_null(error_of("{\"error\":{\"message\":\"longer\"}}", "message", &small));
	assert_int_equal(small.len, 0);
}

static void say(const struct scratch *s, const char *json, char *tried)
{
	auto_http_answer a = ANSWER_INIT;
	int fd = openat(s->fd, "stderr", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600), old = dup(2);

	buf_addstr(&a.body, json);
	a.status = 403;
	dup2(fd, 2);
	print_blocked(&a, tried);
	dup2(old, 2);
	close(old);
	close(fd);
}

static void refusals_have_three_lines(void **state)
{
	struct scratch *s = *state;
	char tried[] = "git push";

	say(s, "{\"error\":{\"message\":\"no \\u001b[31mred\\n\",\"tried\":\"push\",\"instead\":\"commit\"}}",
		tried);
	assert_content(
		s->fd, "stderr", "BLOCKED: no ^[[31mred \nYou tried to: push\nInstead, you should: commit\n");
	say(s, "{\"error\":{\"message\":\"no\\nYou tried to: lie\",\"tried\":\"\"}}", tried);
	assert_content(s->fd, "stderr", "BLOCKED: no You tried to: lie\nYou tried to: git push\n");
	say(s, "not JSON", tried);
	assert_content(s->fd, "stderr",
		"BLOCKED: the gateway refused it and gave no reason (status 403)\nYou tried to: git push\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(quoting),
		cmocka_unit_test(errors_are_found),
		cmocka_unit_test(errors_are_bounded),
		scratch_test(refusals_have_three_lines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
