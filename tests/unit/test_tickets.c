/* Tickets: which globs are within others, and what a request may have. */
#include "testing.h"

#include <string.h>

#include "base/alloc.h"
#include "plan/ticket_new.h"
#include "plan/within.h"

static void test_within(void **state)
{
	(void)state;
	assert_true(glob_within("/src/a.c", "/src/**"));
	assert_true(glob_within("/src/**", "/src"));
	assert_true(glob_within("/src/a/**", "/src/**"));
	assert_true(glob_within("/src", "/src"));
	assert_true(glob_within("/a/src/x", "src"));
	assert_true(glob_within("/src/*.c", "/src/*"));
	assert_true(glob_within("/src/*.c", "/src/*.c"));
	assert_true(glob_within("/src/x.c", "/src/*.c"));
	assert_true(glob_within("/a/b/c/d", "/a/**/d"));
	assert_true(glob_within("/a/**/d/e", "/a/**/d"));
	assert_true(glob_within("/**", "/**"));
	assert_false(glob_within("/**", "/src/**"));
	assert_false(glob_within("/*", "/src"));
	assert_false(glob_within("/src", "/src/a"));
	assert_false(glob_within("/src/**", "/src/*.c"));
	assert_false(glob_within("/**/a", "/src/**"));
	assert_false(glob_within("/src/*", "/src/*.c"));
	assert_false(glob_within("/src2/a", "/src/**"));
	assert_false(glob_within("/SRC/a", "/src/**"));
	assert_false(glob_within("/s?c/a", "/src/**"));
	assert_false(glob_within("a.c", "/src/**"));
	/* too many to try: in doubt it is not */
	assert_false(glob_within("/a/b/c/d/e/f", "/**/a/**/b/**/c/**/d/**/e/**"));
}

static struct config config;
static struct ticket_limits limits;

static int set_up(void **state)
{
	struct err e = ERR_INIT;
	static const char text[] = "policy: {scope: [/src]}\ntickets: {max: 8, agents: [codex]}\n";

	(void)state;
	config_defaults(&config);
	assert_int_equal(config_apply(&config, text, strlen(text), "config.yaml", &e), 0);
	limits = (struct ticket_limits){ .config = &config, .agent = "claude", .timeout = 600 };
	strvec_push(&limits.submodules, "lib");
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	config_release(&config);
	strvec_release(&limits.submodules);
	return 0;
}

static void assert_refused(const char *text, enum err_kind kind, const char *want)
{
	json_t *in = json_loads(text, JSON_DECODE_ANY, NULL), *out = NULL;
	struct err e = ERR_INIT;

	assert_non_null(in);
	assert_int_equal(ticket_check(in, &limits, &out, &e), -1);
	assert_null(out);
	json_decref(in);
	if (!strstr(e.msg, want))
		fail_msg("'%s' has no '%s'", e.msg, want);
	assert_int_equal(e.kind, kind);
}

static json_t *check(const char *text)
{
	json_t *in = json_loads(text, 0, NULL), *out = NULL;
	struct err e = ERR_INIT;

	assert_non_null(in);
	if (ticket_check(in, &limits, &out, &e) < 0)
		fail_msg("%s", e.msg);
	json_decref(in);
	return out;
}

static void test_taken(void **state)
{
	json_t *o = check(
		"{\"title\":\"Say \\u001b[31mhello\\n\",\"prompt\":\"a\\nb\\u0007\",\"agent\":\"codex\","
		"\"files\":[\"src/a.c\",\"/src/**\"],\"acceptance\":[\"make test\"],\"depends\":[\"t1\"],"
		"\"submodules\":[\"lib\"],\"timeout\":\"5m\"}");

	(void)state;
	assert_string_equal(json_string_value(json_object_get(o, "name")), "Say ^[[31mhello ");
	assert_string_equal(json_string_value(json_object_get(o, "description")), "a\nb^G");
	assert_string_equal(json_string_value(json_object_get(o, "agent")), "codex");
	assert_string_equal(json_string_value(json_array_get(json_object_get(o, "files"), 0)), "/src/a.c");
	assert_int_equal(json_integer_value(json_object_get(o, "timeout")), 300);
	assert_string_equal(json_string_value(json_array_get(json_object_get(o, "dependencies"), 0)), "t1");
	json_decref(o);
	o = check("{\"title\":\"x\",\"prompt\":null}");
	assert_string_equal(json_string_value(json_object_get(o, "agent")), "claude");
	assert_null(json_object_get(o, "files"));
	json_decref(o);
}

static void test_refused(void **state)
{
	auto_buf long_title = BUF_INIT(1000), long_prompt = BUF_INIT(200000), many = BUF_INIT(2000);

	(void)state;
	assert_refused("[]", ERR_USAGE, "must be a JSON object");
	assert_refused("{}", ERR_USAGE, "\"title\"");
	assert_refused("{\"title\":7}", ERR_USAGE, "\"title\"");
	assert_refused("{\"title\":\"\"}", ERR_USAGE, "\"title\"");
	assert_refused("{\"title\":\"x\",\"promt\":\"y\"}", ERR_USAGE, "no \"promt\" (is 'prompt' meant?)");
	assert_refused("{\"title\":\"x\",\"network\":{\"mode\":\"host\"}}", ERR_USAGE, "no \"network\"");
	assert_refused("{\"title\":\"x\",\"script\":\"id\"}", ERR_USAGE, "no \"script\"");
	assert_refused("{\"title\":\"x\",\"sandbox\":{\"enabled\":false}}", ERR_USAGE, "no \"sandbox\"");
	assert_refused("{\"title\":\"x\",\"agent\":\"script\"}", ERR_REFUSED, "'script' is not among");
	assert_refused("{\"title\":\"x\",\"agent\":\"aider\"}", ERR_REFUSED, "'aider' is not among");
	assert_refused("{\"title\":\"x\",\"agent\":\"a\\u001bb\"}", ERR_USAGE, "control character");
	assert_refused("{\"title\":\"x\",\"files\":[\"**\"]}", ERR_REFUSED, "more than this task may change");
	assert_refused("{\"title\":\"x\",\"files\":[\"../x\"]}", ERR_REFUSED, "leads out");
	assert_refused("{\"title\":\"x\",\"files\":[\"src/../../x\"]}", ERR_REFUSED, "leads out");
	assert_refused("{\"title\":\"x\",\"files\":[]}", ERR_USAGE, "is empty");
	assert_refused("{\"title\":\"x\",\"files\":\"src\"}", ERR_USAGE, "must be a list");
	assert_refused("{\"title\":\"x\",\"files\":[1]}", ERR_USAGE, "\"files\"");
	assert_refused(
		"{\"title\":\"x\",\"acceptance\":[{\"command\":\"true\"}]}", ERR_USAGE, "\"acceptance\"");
	assert_refused("{\"title\":\"x\",\"submodules\":[\"other\"]}", ERR_REFUSED, "no submodule 'other'");
	assert_refused("{\"title\":\"x\",\"submodules\":[\"all\"]}", ERR_REFUSED, "no submodule 'all'");
	assert_refused("{\"title\":\"x\",\"timeout\":\"1h\"}", ERR_REFUSED, "only 600 seconds");
	assert_refused("{\"title\":\"x\",\"timeout\":0}", ERR_USAGE, "time above 0");
	assert_refused("{\"title\":\"x\",\"timeout\":-1}", ERR_USAGE, "time above 0");
	buf_addstr(&long_title, "{\"title\":\"");
	for (int i = 0; i < 201; i++)
		buf_addch(&long_title, 'x');
	buf_addstr(&long_title, "\"}");
	assert_refused(buf_str(&long_title), ERR_USAGE, "1 to 200 bytes");
	buf_addstr(&long_prompt, "{\"title\":\"x\",\"prompt\":\"");
	for (int i = 0; i < (64 << 10) + 1; i++)
		buf_addch(&long_prompt, 'x');
	buf_addstr(&long_prompt, "\"}");
	assert_refused(buf_str(&long_prompt), ERR_USAGE, "64 KiB");
	buf_addstr(&many, "{\"title\":\"x\",\"depends\":[\"t1\"");
	for (int i = 0; i < 64; i++)
		buf_addstr(&many, ",\"t1\"");
	buf_addstr(&many, "]}");
	assert_refused(buf_str(&many), ERR_USAGE, "at most 64");
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_within),
		cmocka_unit_test_setup_teardown(test_taken, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_refused, set_up, tear_down) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
