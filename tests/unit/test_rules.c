#include "testing.h"

#include "base/rules.h"

static bool may_read(const struct rules *r, const char *path)
{
	const struct rule *w = rules_read(r, path);

	return !w || !rule_denies(w);
}

static bool may_write(const struct rules *r, const char *path)
{
	const struct rule *w = rules_write(r, path);

	return !w || !rule_denies(w);
}

static void a_deny_in_an_allow_in_a_deny(void **state)
{
	auto_rules r = { 0 };

	(void)state;
	rules_add(&r, RULE_DENY_READ, "a/b/c", "3");
	rules_add(&r, RULE_ALLOW_READ, "a/b/**", "2");
	rules_add(&r, RULE_DENY_READ, "a/**", "1");
	assert_true(may_read(&r, "x"));
	assert_true(may_read(&r, "a"));
	assert_false(may_read(&r, "a/x"));
	assert_true(may_read(&r, "a/b/x"));
	assert_false(may_read(&r, "a/b/c"));
	assert_false(may_read(&r, "a/b/c/d"));
	assert_string_equal(rules_read(&r, "a/b/c/d")->at, "3");
	/* showing it does not make it writable, but nothing denies that here except for the outer rule */
	assert_false(may_write(&r, "a/x"));
	assert_null(rules_read(&r, "/a/x"));
}

static void deny_wins_a_tie(void **state)
{
	auto_rules r = { 0 };

	(void)state;
	rules_add(&r, RULE_DENY_WRITE, "deploy", "1");
	rules_add(&r, RULE_ALLOW_WRITE, "deploy", "2");
	rules_add(&r, RULE_ALLOW_WRITE, "*.txt", "3");
	rules_add(&r, RULE_DENY_WRITE, "*.txt", "4");
	assert_false(may_write(&r, "deploy"));
	assert_false(may_write(&r, "deploy/x.txt"));
	assert_false(may_write(&r, "b.txt"));
	assert_true(may_read(&r, "deploy/x"));
}

static void reading_and_writing(void **state)
{
	auto_rules r = { 0 };

	(void)state;
	rules_add(&r, RULE_DENY_READ, "keys/**", "1");
	rules_add(&r, RULE_ALLOW_WRITE, "keys/test/**", "2");
	rules_add(&r, RULE_DENY_WRITE, "docs", "3");
	rules_add(&r, RULE_ALLOW_WRITE, "docs/drafts", "4");
	assert_false(may_write(&r, "keys/a"));
	assert_true(may_read(&r, "keys/test/a"));
	assert_true(may_write(&r, "keys/test/a"));
	assert_true(may_read(&r, "docs/x"));
	assert_false(may_write(&r, "docs/x"));
	assert_true(may_write(&r, "docs/drafts/x"));
}

static void absolute_paths(void **state)
{
	auto_rules r = { 0 };

	(void)state;
	rules_add(&r, RULE_DENY_READ, "/srv/data/private/**", "1");
	rules_add(&r, RULE_ALLOW_READ, "/srv/data", "2");
	assert_false(may_read(&r, "/srv/data/private/x"));
	assert_true(may_read(&r, "/srv/data/x"));
	assert_null(rules_read(&r, "srv/data/x"));
	assert_true(rules_are_beneath(&r, "/srv"));
	assert_true(rules_are_beneath(&r, "/srv/data/private/deep"));
	assert_false(rules_are_beneath(&r, "/usr"));
	assert_false(rules_are_beneath(&r, "srv"));
}

static void where_to_look(void **state)
{
	auto_rules r = { 0 }, any = { 0 };

	(void)state;
	rules_add(&r, RULE_DENY_READ, "a/b/*.key", "1");
	assert_true(rules_are_beneath(&r, ""));
	assert_true(rules_are_beneath(&r, "a"));
	assert_true(rules_are_beneath(&r, "a/b"));
	assert_false(rules_are_beneath(&r, "b"));
	assert_false(rules_are_beneath(&r, "a/c"));
	rules_add(&any, RULE_DENY_READ, "*.key", "1");
	assert_true(rules_are_beneath(&any, "x/y/z"));
}

static void weights(void **state)
{
	(void)state;
	assert_true(rule_weight("a/b") > rule_weight("a/*bcdefghijklmnop"));
	assert_true(rule_weight("a/b*") > rule_weight("a/*"));
	assert_true(rule_weight("a/b/**") == rule_weight("a/b"));
	assert_true(rule_weight("/a/b") == rule_weight("a/b"));
	assert_int_equal(rule_weight("**"), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_deny_in_an_allow_in_a_deny),
		cmocka_unit_test(deny_wins_a_tie),
		cmocka_unit_test(reading_and_writing),
		cmocka_unit_test(absolute_paths),
		cmocka_unit_test(where_to_look),
		cmocka_unit_test(weights),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
