/* A plan in Markdown, and regular expressions. */
#include "plan_text.h"

#include "plan/markdown.h"
#include "plan/regex.h"

#define BEGIN  "<!-- loom METADATA -->\n"
#define FINISH "<!-- END loom METADATA -->\n"

static void read_markdown(const char *text, struct plan *ret)
{
	struct err e = ERR_INIT;

	if (plan_read(text, strlen(text), "docs/My Plan.md", ret, &e) < 0)
		fail_msg("%s", e.msg);
}

static void test_markdown(void **state)
{
	static const char *const texts[] = {
		"# Plan\n\nwords ```yaml\nx: y\n```\n" BEGIN
		"\n```yaml\nloom:\n  stages:\n  - id: a\n```\n\n" FINISH,
		/* a longer fence, with a shorter one in it; CRLF; blanks */
		BEGIN
		"  ````yaml\r\n  loom:\r\n    stages:\r\n    - id: a\r\n      description: |\r\n        ```\r\n"
		"        x\r\n        ```\r\n  `````  \r\n" FINISH,
		/* a marker with more words; the first pair counts */
		"<!-- loom METADATA - do not edit -->\n```yml\nstages: [{id: a}]\n```\n" FINISH BEGIN
		"```yaml\nstages: [{id: b}]\n```\n" FINISH,
		/* a fence that is indented as deep as a text in YAML is part of it */
		BEGIN "```yaml\nstages:\n- id: a\n  description: |\n    x\n    ```\n    y\n```\n" FINISH,
		/* a marker within a line counts only if there is no other */
		("Between `<!-- loom METADATA -->` and its end:\n\n```yaml\nstages: [{id: b}]\n```\n" BEGIN
		 "```yaml\nstages: [{id: a}]\n```\n" FINISH),
		"* <!-- loom METADATA -->\n```yaml\nstages: [{id: a}]\n```\n" FINISH,
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		auto_plan p = { 0 };

		read_markdown(texts[i], &p);
		assert_string_equal(p.id, "My-Plan");
		assert_string_equal(p.task, "my-plan");
		assert_string_equal(p.stages[0].id, "a");
		if (i == 1)
			assert_string_equal(p.stages[0].description, "```\nx\n```\n");
		if (i == 3)
			assert_string_equal(p.stages[0].description, "x\n```\ny\n");
	}
}

static void refused(const char *text, const char *want)
{
	auto_plan p = { 0 };
	struct err e = ERR_INIT;

	assert_int_equal(plan_read(text, strlen(text), "p.md", &p, &e), -1);
	if (strncmp(e.msg, want, strlen(want)))
		fail_msg("'%s' is not '%s…'", e.msg, want);
}

static void test_markdown_refused(void **state)
{
	(void)state;
	refused("# x\n", "p.md:1:1: there is no plan in this Markdown");
	refused("", "p.md:1:1: there is no plan in this Markdown");
	refused("x\n" BEGIN "```yaml\n```\n", "p.md:2:1: '<!-- END loom METADATA -->' is missing");
	refused(FINISH BEGIN "```yaml\n```\n", "p.md:2:1: '<!-- END loom METADATA -->' is missing");
	refused("\n" BEGIN "x\n" FINISH "```yaml\n```\n", "p.md:2:1: no block of '```yaml'");
	refused(BEGIN "````yaml\na: b\n```\n" FINISH "````\n", "p.md:2:1: this block of YAML does not end");
	/* places are those of the whole file */
	refused("\n\n" BEGIN "\n```yaml\nstages:\n- id: a\n  nme: x\n```\n" FINISH,
		"p.md:8:3: unknown key 'stages.a.nme' (is 'name' meant?)");
	refused("\n\n" BEGIN "```yaml\nstages: [\n```\n" FINISH, "p.md:");
}

static void test_kinds_of_files(void **state)
{
	(void)state;
	assert_true(markdown_is("a.md", "", 0));
	assert_true(markdown_is("a.MARKDOWN", "", 0));
	assert_false(markdown_is("a.yaml", BEGIN, strlen(BEGIN)));
	assert_true(markdown_is("-", BEGIN, strlen(BEGIN)));
	assert_false(markdown_is("-", "x " BEGIN, strlen("x " BEGIN)));
	assert_false(markdown_is("plan", "a: b", 4));
}

static void matches(const char *pattern, const char *line, bool want)
{
	struct err e = ERR_INIT;
	struct plan_regex x;

	if (plan_regex_compile(&x, pattern, &e) < 0)
		fail_msg("%s", e.msg);
	if (plan_regex_matches(&x, line) != want)
		fail_msg("%s and %s", pattern, line);
	plan_regex_release(&x);
}

static void test_regex(void **state)
{
	(void)state;
	matches("fn main\\(", "pub fn main() {", true);
	matches("a|b", "xbx", true);
	matches("^\\s*use \\w+;$", "\tuse abc_1;", true);
	matches("\\d{2}", "a1b22", true);
	matches("\\D", "123", false);
	matches("[\\d\\]-]x", "-x", true);
	matches("[\\d\\]-]x", "]x", true);
	matches("[^\\w]", "ab_", false);
	matches("[]a]", "]", true);
	matches("[[:digit:]\\s]", " ", true);
	matches("(?:ab)+c", "ababc", true);
	matches("(?i)abc", "xABC", true);
	matches("abc", "ABC", false);
	matches("args\\(\\[\"rm\", \"-f\", &name\\]\\)", "args([\"rm\", \"-f\", &name])", true);
	matches("\\bword\\b", "a word here", true);
	matches("\\bword\\b", "swords", false);
	/* not the beginning of a word, which the C library makes of it */
	matches("a\\<b", "a<b", true);
	matches("a.*?b", "axb", true);
	matches("x\\ty", "x\ty", true);
	matches("(a+b+c+d+e+f+g+h+i+j+k+l+m+)+x{3}", "abcdefghijklmxxx", true);
}

static void test_posix(void **state)
{
	auto_buf out = BUF_SMALL;
	struct err e = ERR_INIT;
	bool icase = false;

	(void)state;
	assert_int_equal(plan_regex_posix("(?i)^(?:a\\d)+[\\s.]\\(\\\"", &out, &icase, &e), 0);
	assert_true(icase);
	assert_string_equal(buf_str(&out), "^(a[0-9])+[[:space:].]\\(\"");
}

static void test_regex_refused(void **state)
{
	static const char *const patterns[] = { "(", "[a", "a\\", "(a)\\1", "(?=a)", "\\x41", "a{2001}",
		"((a{40}){40}){40}", "a+++++++++++++++", "((((((((((((a+)+)+)+)+)+)+)+)+)+)+)+",
		"((((((((((((()*)+)+)+)+)+)+)+)+)+)+)+)+", "(((((((()*)+a)+b)+c)+)+d)+e)+",
		"a{99999999999999999999}", "[z-a]" };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(patterns); i++) {
		struct err e = ERR_INIT;
		struct plan_regex x;

		if (!plan_regex_compile(&x, patterns[i], &e))
			fail_msg("%s", patterns[i]);
		assert_int_equal(e.kind, ERR_CONFIG);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_markdown),
		cmocka_unit_test(test_markdown_refused), cmocka_unit_test(test_kinds_of_files),
		cmocka_unit_test(test_regex), cmocka_unit_test(test_posix),
		cmocka_unit_test(test_regex_refused) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
