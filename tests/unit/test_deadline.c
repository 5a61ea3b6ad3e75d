#include "testing.h"

#include <limits.h>
#include <signal.h>
#include <sys/time.h>
#include <time.h>

#include "base/deadline.h"

static int64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static void test_one_more_look_after_the_last_sleep(void **state)
{
	int64_t begun = now_ms();
	struct deadline d = deadline_in(30);
	int looks = 1;

	(void)state;
	/* a sleep that is longer than the time left is cut */
	for (; deadline_sleep(&d, 60000); looks++)
		;
	assert_int_equal(looks, 2);
	assert_true(now_ms() - begun >= 30);
	assert_true(now_ms() - begun < 30000);
}

static void test_over_at_once(void **state)
{
	struct deadline now = deadline_in(0), past = deadline_in(-1000);

	(void)state;
	assert_false(deadline_sleep(&now, 60000));
	assert_false(deadline_sleep(&past, 60000));
	assert_int_equal(deadline_left(&past), 0);
}

static void test_what_is_left(void **state)
{
	struct deadline far = deadline_in(INT64_MAX / 2), near = deadline_in(60000);

	(void)state;
	assert_int_equal(deadline_left(&far), INT_MAX);
	assert_true(deadline_left(&near) > 0);
	assert_true(deadline_left(&near) <= 60000);
}

static void ignore(int signal)
{
	(void)signal;
}

static void test_a_signal_does_not_cut_it_short(void **state)
{
	struct sigaction act = { .sa_handler = ignore };
	struct itimerval soon = { .it_value.tv_usec = 5000 };
	struct deadline d = deadline_in(60000);
	int64_t begun = now_ms();

	(void)state;
	sigaction(SIGALRM, &act, NULL);
	setitimer(ITIMER_REAL, &soon, NULL);
	assert_true(deadline_sleep(&d, 100));
	assert_true(now_ms() - begun >= 99);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_more_look_after_the_last_sleep),
		cmocka_unit_test(test_over_at_once),
		cmocka_unit_test(test_what_is_left),
		cmocka_unit_test(test_a_signal_does_not_cut_it_short),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
