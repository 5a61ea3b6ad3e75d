#include "testing.h"

#include <signal.h>
#include <unistd.h>

#include "sys/worker.h"

static int changed;

static int go_well(void *arg, struct err *e)
{
	(void)e;
	*(int *)arg = 1;
	return 0;
}

static int go_wrong(void *arg, struct err *e)
{
	(void)arg;
	return err_set(e, ERR_CONFLICT, "what it says");
}

static int die(void *arg, struct err *e)
{
	(void)arg;
	(void)e;
	return raise(SIGKILL);
}

static void test_how_it_ends(void **state)
{
	struct worker b = WORKER_INIT;
	struct err e = ERR_INIT;

	(void)state;
	assert_int_equal(worker_start(&b, go_well, &changed, &e), 0);
	assert_int_equal(worker_wait(&b, &e), 0);
	assert_int_equal(changed, 0);
	assert_int_equal(worker_start(&b, go_wrong, NULL, &e), 0);
	assert_int_equal(worker_wait(&b, &e), -1);
	assert_int_equal(e.kind, ERR_CONFLICT);
	assert_string_equal(e.msg, "what it says");
	assert_int_equal(worker_start(&b, die, NULL, &e), 0);
	assert_int_equal(worker_wait(&b, &e), -1);
	assert_int_equal(e.kind, ERR_FAILED);
	assert_non_null(strstr(e.msg, "was killed"));
	worker_release(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_how_it_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
