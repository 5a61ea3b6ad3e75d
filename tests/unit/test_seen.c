#include "scratch.h"

#include "store/store.h"
#include "task/seen.h"

/* What counts: the tip and the end of the last run. */
static void test_is_seen(void **state)
{
	struct task t = { .published = (char *)"", .seen = (char *)"" };

	(void)state;
	/* it never ran, and has nothing */
	assert_true(seen_is(&t));
	t.started = 5;
	assert_false(seen_is(&t));
	t.seen = (char *)" 0";
	assert_true(seen_is(&t));
	t.ended = 7;
	assert_false(seen_is(&t));
	t.seen = (char *)" 7";
	assert_true(seen_is(&t));
	t.published = (char *)"abc";
	assert_false(seen_is(&t));
	t.seen = (char *)"abc 7";
	assert_true(seen_is(&t));
	t.seen = (char *)"abcd 7";
	assert_false(seen_is(&t));
	t.seen = (char *)"ab 7";
	assert_false(seen_is(&t));
	t.seen = (char *)"abc 8";
	assert_false(seen_is(&t));
}

/* Another process' writes are noticed, one's own are not. What the user has seen is no change of the task. */
static void test_mark_is_kept(void **state)
{
	const struct scratch *s = *state;
	struct task t = { .name = (char *)"t",
		.branch = (char *)"b",
		.base = (char *)"c0",
		.layer = (char *)"",
		.target = (char *)"main",
		.backend = (char *)"overlay",
		.workspace = (char *)"/w",
		.shown = (char *)"" };
	struct err e = ERR_INIT;
	auto_store st = NULL;
	auto_store other = NULL;
	auto_project p = { 0 };
	auto_task now = { 0 };
	int64_t at, later;

	assert_int_equal(store_open(s->path, &st, &e), 0);
	assert_int_equal(store_open(s->path, &other, &e), 0);
	assert_int_equal(store_project(st, "/p", "/p/.git", &p, &e), 0);
	t.project_id = p.id;
	assert_int_equal(store_task_insert(st, &t, &e), 0);
	assert_int_equal(store_version_seen(st, &at, &e), 0);
	assert_int_equal(store_task_note(st, t.id, "note", &e), 0);
	assert_int_equal(store_version_seen(st, &later, &e), 0);
	assert_int_equal(later, at);
	assert_int_equal(store_task_seen(other, t.id, "tip 7", &e), 0);
	assert_int_equal(store_version_seen(st, &later, &e), 0);
	assert_int_not_equal(later, at);
	assert_int_equal(store_task_by_id(st, t.id, &now, &e), 0);
	assert_string_equal(now.seen, "tip 7");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_is_seen),
		scratch_test(test_mark_is_kept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
