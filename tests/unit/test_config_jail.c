/* What the configuration says of the jail: caches, and rules about paths. */
#include "config_text.h"

#include "config/check.h"
#include "config/protect.h"

static const char *mode_of(const struct config *c, const char *path)
{
	for (size_t i = 0; i < c->ncaches; i++)
		if (!strcmp(c->caches[i].path, path))
			return c->caches[i].mode;
	return "none";
}

static void test_caches(void **state)
{
	auto_config c = { 0 }, off = { 0 }, listed = { 0 };
	struct err e = ERR_INIT;

	(void)state;
	assert_int_equal(
		apply(&c, "jail: {caches: {~/.npm/_cacache: off, \"~/.cache/x\": read-only}}\n", &e), 0);
	assert_string_equal(mode_of(&c, ".npm/_cacache"), CACHE_OFF);
	assert_string_equal(mode_of(&c, ".cache/x"), CACHE_READ_ONLY);
	assert_string_equal(mode_of(&c, ".m2/repository"), CACHE_TASK);
	for (size_t i = 0; i < c.ncaches; i++) {
		auto_str path = xasprintf("~/%s", c.caches[i].path);

		if (check_cache(path))
			fail_msg("cache %s %s", path, check_cache(path));
	}
	assert_int_equal(
		apply(&off, "jail: {caches: {'*': off, ~/.cache/x: task, ~/go/pkg: project}}\n", &e), 0);
	assert_string_equal(mode_of(&off, "go/pkg"), CACHE_PROJECT);
	assert_string_equal(mode_of(&off, ".m2/repository"), CACHE_OFF);
	assert_string_equal(mode_of(&off, ".cache/x"), CACHE_TASK);
	assert_int_equal(apply(&listed, "jail: {caches: [~/.cache/x]}\n", &e), 0);
	assert_string_equal(mode_of(&listed, ".cache/x"), CACHE_TASK);
	assert_string_equal(mode_of(&listed, ".m2/repository"), CACHE_TASK);
	assert_refused("jail: {caches: [.cache/x]}\n",
		"c.yaml:1:17: '.cache/x' in 'jail.caches' is not a directory");
	assert_refused(
		"jail: {caches: [~/.gradle]}\n", "c.yaml:1:17: '~/.gradle' in 'jail.caches' holds keys");
	assert_refused(
		"jail: {caches: {~/.ssh: off}}\n", "c.yaml:1:17: '~/.ssh' in 'jail.caches' holds keys");
	assert_refused("jail: {caches: shared}\n",
		"c.yaml:1:16: 'jail.caches' must be 'task', 'project', 'read-only' or 'off'");
}

static void test_path_rules(void **state)
{
	auto_config c = { 0 };
	struct err e = ERR_INIT;
	const struct rules *r;

	(void)state;
	assert_int_equal(
		apply(&c,
			"jail:\n  deny_read: [secrets, /srv/x/**]\n  allow_read: [secrets/public, /srv/data]\n"
			"  deny_write:\n    - docs\n",
			&e),
		0);
	r = &c.policy.rules;
	assert_int_equal(r->n, 5);
	assert_string_equal(rules_write(r, "docs/x")->at, "c.yaml:5");
	assert_true(rule_denies(rules_read(r, "secrets/x")));
	assert_false(rule_denies(rules_read(r, "secrets/public/x")));
	assert_int_equal(c.allow_read.n, 1);
	/* the gateway protects them too, but for exceptions */
	assert_string_equal(protect_path(&c.policy, NULL, "docs/x", false), "docs");
	assert_string_equal(protect_path(&c.policy, NULL, "secrets/x", false), "secrets");
	assert_null(protect_path(&c.policy, NULL, "src/x", false));
	assert_refused("jail: {deny_read: [/srv/*/x]}\n",
		"c.yaml:1:20: '/srv/*/x' in 'jail.deny_read' has a wildcard");
	assert_refused(
		"jail: {deny_write: [a/../b]}\n", "c.yaml:1:21: 'a/../b' in 'jail.deny_write' is not a glob");
	assert_refused("jail: {allow_write: [/proc/1]}\n",
		"c.yaml:1:22: '/proc/1' in 'jail.allow_write' has devices");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_caches),
		cmocka_unit_test(test_path_rules),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
