/* J9: messages if the kernel offers less. */
#include <errno.h>
#include "testing.h"

#include "base/alloc.h"
#include "jail/probe.h"

static const struct {
	struct probe_facts facts;
	const char *found, *enable;
} advice[] = {
	{ { 0, 0, 0, 1, true }, "yes", "" },
	{ { EPERM, 15000, 0, -1, true }, "kernel.unprivileged_userns_clone",
		"sudo sysctl -w kernel.unprivileged_userns_clone=1" },
	{ { ENOSPC, 0, -1, -1, false }, "user.max_user_namespaces",
		"sudo sysctl -w user.max_user_namespaces=15000" },
	{ { EPERM, 15000, -1, 1, true }, "AppArmor",
		"sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0" },
	{ { EACCES, 15000, 1, 1, true }, "AppArmor",
		"sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0" },
	{ { ENOSPC, 15000, 1, 0, false }, "limit", "sudo sysctl -w user.max_user_namespaces=15000" },
	{ { EINVAL, -1, -1, -1, false }, "built without", "" },
	{ { EPERM, 15000, -1, -1, true }, "container", "docker run " },
	{ { EPERM, 15000, 1, 0, true }, "container", "docker run " },
	{ { EIO, 15000, -1, -1, false }, "Input/output error", "" },
};

static void advice_names_the_cause(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(advice); i++) {
		struct probe_row row = { .enable = "left over" };

		probe_userns_advice(&advice[i].facts, &row);
		assert_int_equal(row.ok, advice[i].facts.userns_errno == 0);
		assert_non_null(strstr(row.found, advice[i].found));
		assert_int_equal(strncmp(row.enable, advice[i].enable, strlen(advice[i].enable)), 0);
		assert_int_equal(!row.enable[0], !advice[i].enable[0]);
	}
}

static void a_covered_proc_is_named(void **state)
{
	struct probe_row row = { 0 };

	(void)state;
	probe_proc_advice(EPERM, &row);
	assert_false(row.ok);
	assert_non_null(strstr(row.found, "partly covered"));
	probe_proc_advice(0, &row);
	assert_true(row.ok);
	assert_string_equal(row.enable, "");
}

/* On every machine each row has an answer, and probing changes nothing. */
static void trying_answers_everything(void **state)
{
	struct probe p;

	(void)state;
	probe_kernel(&p);
	assert_in_range(p.n, 5, PROBE_MAX);
	for (int i = 0; i < p.n; i++) {
		assert_true(p.rows[i].found[0]);
		assert_int_equal(probe_has(&p, p.rows[i].name), p.rows[i].ok);
	}
	assert_false(probe_has(&p, "no such thing"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(advice_names_the_cause),
		cmocka_unit_test(a_covered_proc_is_named),
		cmocka_unit_test(trying_answers_everything),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
