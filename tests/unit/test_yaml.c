#include "testing.h"

#include "base/alloc.h"
#include "base/buf.h"
#include "base/yaml.h"

static struct yaml *parse(const char *text)
{
	struct err e = ERR_INIT;
	struct yaml *y = NULL;

	if (yaml_parse(text, strlen(text), "f.yaml", &y, &e) < 0)
		fail_msg("%s", e.msg);
	return y;
}

static void assert_refused_n(const char *text, size_t len, const char *place, const char *word)
{
	struct err e = ERR_INIT;
	struct yaml *y = NULL;

	assert_int_equal(yaml_parse(text, len, "f.yaml", &y, &e), -1);
	assert_null(y);
	assert_int_equal(e.kind, ERR_CONFIG);
	if (strncmp(e.msg, place, strlen(place)) || !strstr(e.msg, word))
		fail_msg("'%s' is not '%s…%s'", e.msg, place, word);
}

static void assert_refused(const char *text, const char *place, const char *word)
{
	assert_refused_n(text, strlen(text), place, word);
}

static void test_tree_with_places(void **state)
{
	auto_yaml y = parse("a: 1\nmap:\n  list: [x, \"2\"]\n  # comment\n  text: >-\n    two\n    words\n");
	const struct yaml *map = yaml_get(y, "map"), *list = yaml_get(map, "list");

	(void)state;
	assert_int_equal(y->kind, YAML_MAP);
	assert_int_equal(y->n, 2);
	assert_string_equal(yaml_get(y, "a")->scalar, "1");
	assert_int_equal(list->kind, YAML_LIST);
	assert_int_equal(list->n, 2);
	assert_false(list->items[0]->quoted);
	assert_true(list->items[1]->quoted);
	assert_int_equal(list->items[1]->line, 3);
	assert_int_equal(list->items[1]->column, 13);
	assert_int_equal(map->keys[1].line, 5);
	assert_int_equal(map->keys[1].column, 3);
	assert_string_equal(yaml_get(map, "text")->scalar, "two words");
	assert_null(yaml_get(map, "none"));
	assert_null(yaml_get(list, "x"));
}

static void test_empty_files(void **state)
{
	static const char *const empty[] = { "", "\n\n", "# only a comment\n", "---\n", "---\n...\n", "{}",
		"~\n", "\xef\xbb\xbf" };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(empty); i++) {
		auto_yaml y = parse(empty[i]);

		assert_int_equal(y->kind, YAML_MAP);
		assert_int_equal(y->n, 0);
	}
}

static void test_crlf(void **state)
{
	auto_yaml y = parse("a: 1\r\nb:\r\n  - x\r\n  - y\r\n");

	(void)state;
	assert_string_equal(yaml_get(y, "a")->scalar, "1");
	assert_string_equal(yaml_get(y, "b")->items[1]->scalar, "y");
	assert_int_equal(yaml_get(y, "b")->items[1]->line, 4);
}

static void test_bombs(void **state)
{
	(void)state;
	assert_refused("a: &x [1]\nb: [*x, *x]\n", "f.yaml:1:4: ", "anchors");
	assert_refused("a: &x 1\n", "f.yaml:1:4: ", "anchors");
	assert_refused("k: 1\n&x a: 1\n", "f.yaml:2:1: ", "anchors");
	assert_refused("a: {<<: *x}\n", "f.yaml:1:9: ", "aliases");
	assert_refused("*x : 1\n", "f.yaml:1:1: ", "aliases");
	assert_refused("*x\n", "f.yaml:1:1: ", "aliases");
	assert_refused("a: !!binary aGk=\n", "f.yaml:1:4: ", "tags");
	assert_refused("a: ! x\n", "f.yaml:1:4: ", "tags");
	assert_refused("!!map {a: 1}\n", "f.yaml:1:1: ", "tags");
}

static void test_duplicates(void **state)
{
	(void)state;
	assert_refused("a: 1\nb: 2\na: 3\n", "f.yaml:3:1: ", "'a' appears twice, first in line 1");
	assert_refused("m: {x: 1, \"x\": 2}\n", "f.yaml:1:11: ", "twice");
}

static void test_shape(void **state)
{
	(void)state;
	assert_refused("a: 1\n---\nb: 2\n", "f.yaml:2:1: ", "more than one document");
	assert_refused("? [a, b]\n: 1\n", "f.yaml:1:3: ", "key");
	assert_refused("? {a: b}\n: 1\n", "f.yaml:1:3: ", "key");
	assert_refused("a: [1\n", "f.yaml:2:1: ", "");
	assert_refused("a: 'x\n", "f.yaml:2:1: ", "");
	assert_refused("a:\n\tb: 1\n", "f.yaml:2:1: ", "a tab where only spaces");
	assert_refused("a: b: c\n", "f.yaml:1:5: ", "");
	assert_refused("a: @x\n", "f.yaml:1:4: ", "cannot start any token");
}

static void test_bytes(void **state)
{
	(void)state;
	assert_refused_n("a: 1\nb: \0\n", 10, "f.yaml:2:4: ", "NUL");
	assert_refused("a: \"x\\0y\"\n", "f.yaml:1:4: ", "NUL");
	assert_refused("\"k\\0\": 1\n", "f.yaml:1:1: ", "NUL");
	assert_refused("a: 1\nb: \xff\n", "f.yaml:2:4: ", "UTF-8");
	assert_refused("a: \033[31m\n", "f.yaml:1:4: ", "control characters");
	assert_refused_n("\xff\xfe"
			 "a\0",
		4, "f.yaml:1:", "");
}

static void test_depth(void **state)
{
	(void)state;
	for (int depth = 15; depth <= 18; depth++) {
		auto_buf b = BUF_SMALL;
		auto_yaml y = NULL;
		struct err e = ERR_INIT;

		for (int i = 0; i < depth; i++)
			buf_addstr(&b, i % 2 ? "[" : "{a: ");
		for (int i = depth; i-- > 0;)
			buf_addch(&b, i % 2 ? ']' : '}');
		assert_int_equal(yaml_parse(b.data, b.len, "f", &y, &e), depth <= YAML_MAX_DEPTH ? 0 : -1);
	}
}

static void test_very_deep(void **state)
{
	auto_buf b = BUF_INIT(1 << 20);

	(void)state;
	while (buf_addch(&b, '['))
		;
	assert_refused_n(b.data, b.len, "f.yaml:1:17: ", "16 levels");
	buf_reset(&b);
	while (buf_addstr(&b, "- "))
		;
	assert_refused_n(b.data, b.len, "f.yaml:1:33: ", "16 levels");
}

static void test_size_limits(void **state)
{
	auto_buf b = BUF_INIT(2 << 20);
	auto_yaml y = NULL;
	struct err e = ERR_INIT;

	(void)state;
	buf_addstr(&b, "a: 1 #");
	while (b.len < YAML_MAX_BYTES)
		buf_addch(&b, '#');
	assert_int_equal(yaml_parse(b.data, b.len, "f.yaml", &y, &e), 0);
	buf_addch(&b, '#');
	assert_refused_n(b.data, b.len, "f.yaml:1:1: ", "larger than");
}

static void test_node_limit(void **state)
{
	auto_buf b = BUF_INIT(1 << 20);

	(void)state;
	for (int i = 0; i < 20000; i++)
		buf_printf(&b, "k%d: 1\n", i);
	assert_refused_n(b.data, b.len, "f.yaml:10000:", "10000 values");
}

/* Text from a file is printed on a terminal. */
static void test_messages_are_clean(void **state)
{
	struct err e = ERR_INIT;
	struct yaml *y = NULL;
	const char *text = "\"\\e[31m\\n\\t\\r\": 1\n\"\\e[31m\\n\\t\\r\": 2\n";

	(void)state;
	assert_int_equal(yaml_parse(text, strlen(text), "f.yaml", &y, &e), -1);
	assert_null(strpbrk(e.msg, "\033\n\t\r"));
	assert_non_null(strstr(e.msg, "^[[31m"));
}

static void test_strings(void **state)
{
	auto_yaml y = parse("s: x\nn: 12\nq: ''\nempty:\nnull: ~\nl: [a]\nm: {}\n");
	struct err e = ERR_INIT;
	char *s = NULL;

	(void)state;
	assert_int_equal(yaml_string(yaml_get(y, "n"), "f", "n", &s, &e), 0);
	assert_string_equal(s, "12");
	free(s);
	assert_int_equal(yaml_string(yaml_get(y, "q"), "f", "q", &s, &e), 0);
	assert_string_equal(s, "");
	free(s);
	assert_int_equal(yaml_string(yaml_get(y, "empty"), "f", "a.empty", &s, &e), -1);
	assert_string_equal(e.msg, "f:4:7: 'a.empty' has no value");
	assert_int_equal(yaml_string(yaml_get(y, "null"), "f", "null", &s, &e), -1);
	assert_int_equal(yaml_string(yaml_get(y, "l"), "f", "a.l", &s, &e), -1);
	assert_string_equal(e.msg, "f:6:4: 'a.l' must be one value, not a list");
	assert_int_equal(yaml_string(yaml_get(y, "m"), "f", "a.m", &s, &e), -1);
}

static void test_bools(void **state)
{
	auto_yaml y = parse("t: true\nf: False\nq: \"true\"\nyes: yes\nn: 1\n");
	struct err e = ERR_INIT;
	bool b = false;

	(void)state;
	assert_int_equal(yaml_bool(yaml_get(y, "t"), "f", "t", &b, &e), 0);
	assert_true(b);
	assert_int_equal(yaml_bool(yaml_get(y, "f"), "f", "f", &b, &e), 0);
	assert_false(b);
	assert_int_equal(yaml_bool(yaml_get(y, "q"), "f", "q", &b, &e), -1);
	assert_int_equal(yaml_bool(yaml_get(y, "yes"), "f", "yes", &b, &e), -1);
	assert_int_equal(yaml_bool(yaml_get(y, "n"), "f", "n", &b, &e), -1);
}

static void test_sizes(void **state)
{
	static const struct {
		const char *text;
		uint64_t want; /* UINT64_MAX: refused */
	} sizes[] = {
		{ "0", 0 },
		{ "4096", 4096 },
		{ "64KB", 64 << 10 },
		{ "100MB", 100 << 20 },
		{ "1GB", 1 << 30 },
		{ "2tb", 2ull << 40 },
		{ "7B", 7 },
		{ "'10MB'", 10 << 20 },
		{ "17179869183GB", 17179869183ull << 30 },
		{ "17179869184GB", UINT64_MAX },
		{ "99999999999999999999", UINT64_MAX },
		{ "-1", UINT64_MAX },
		{ "+1", UINT64_MAX },
		{ "1.5GB", UINT64_MAX },
		{ "1 GB", UINT64_MAX },
		{ "GB", UINT64_MAX },
		{ "0x10", UINT64_MAX },
		{ "10MBx", UINT64_MAX },
		{ "''", UINT64_MAX },
		{ "[1]", UINT64_MAX },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		auto_yaml y = parse(sizes[i].text);
		struct err e = ERR_INIT;
		uint64_t got = UINT64_MAX;

		assert_int_equal(yaml_size(y, "f", "s", &got, &e), sizes[i].want == UINT64_MAX ? -1 : 0);
		assert_true(got == sizes[i].want);
	}
}

static void test_lists(void **state)
{
	auto_yaml y = parse("l: [a, b]\none: c\nbad: [a, [b]]\nnull:\nm: {a: b}\nhole: [a, ~]\n");
	auto_strvec v = STRVEC_INIT;
	struct err e = ERR_INIT;

	(void)state;
	assert_int_equal(yaml_strings(yaml_get(y, "l"), "f", "l", &v, &e), 0);
	assert_int_equal(yaml_strings(yaml_get(y, "one"), "f", "one", &v, &e), 0);
	assert_int_equal(v.n, 3);
	assert_string_equal(v.v[2], "c");
	assert_int_equal(yaml_strings(yaml_get(y, "bad"), "f", "bad", &v, &e), -1);
	assert_non_null(strstr(e.msg, "f:3:10: "));
	assert_int_equal(yaml_strings(yaml_get(y, "null"), "f", "null", &v, &e), -1);
	assert_int_equal(yaml_strings(yaml_get(y, "m"), "f", "m", &v, &e), -1);
	assert_int_equal(yaml_strings(yaml_get(y, "hole"), "f", "hole", &v, &e), -1);
	assert_int_equal(v.n, 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tree_with_places),
		cmocka_unit_test(test_empty_files),
		cmocka_unit_test(test_crlf),
		cmocka_unit_test(test_bombs),
		cmocka_unit_test(test_duplicates),
		cmocka_unit_test(test_shape),
		cmocka_unit_test(test_bytes),
		cmocka_unit_test(test_depth),
		cmocka_unit_test(test_very_deep),
		cmocka_unit_test(test_size_limits),
		cmocka_unit_test(test_node_limit),
		cmocka_unit_test(test_messages_are_clean),
		cmocka_unit_test(test_strings),
		cmocka_unit_test(test_bools),
		cmocka_unit_test(test_sizes),
		cmocka_unit_test(test_lists),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
