/* J9: nobody gets away. */
#include "testing.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/prctl.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sys/descendants.h"

static void be_subreaper(void)
{
	assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0), 0);
}

static void sleep_for_ever(void)
{
	for (;;)
		pause();
}

static bool has_children(void)
{
	siginfo_t info = { 0 };

	return waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0 || errno != ECHILD;
}

static void ends_those_that_ran_away(void **state)
{
	(void)state;
	be_subreaper();
	for (int i = 0; i < 5; i++)
		if (!fork()) {
			setsid();
			for (int k = 0; k < i; k++)
				if (!fork()) {
					setsid();
					signal(SIGTERM, SIG_IGN);
					if (!fork())
						sleep_for_ever();
					_exit(0);
				}
			sleep_for_ever();
		}
	poll(NULL, 0, 50);
	assert_true(has_children());
	descendants_end(NULL, 0);
	assert_false(has_children());
}

static void *live_on(void *arg)
{
	(void)arg;
	sleep_for_ever();
	return NULL;
}

/* /proc shows the state of the first thread, which has ended; the process has not. */
static void ends_those_whose_first_thread_has_ended(void **state)
{
	pid_t pid;

	(void)state;
	be_subreaper();
	pid = fork();
	if (!pid) {
		pthread_t thread;

		if (pthread_create(&thread, NULL, live_on, NULL))
			_exit(1);
		syscall(SYS_exit, 0);
	}
	poll(NULL, 0, 50);
	descendants_end(NULL, 0);
	assert_int_equal(kill(pid, 0), -1);
}

static void lists_them(void **state)
{
	pid_t pid = fork(), *pids = NULL;

	(void)state;
	if (!pid)
		sleep_for_ever();
	assert_int_equal(descendants_list(getpid(), NULL, 0, &pids), 1);
	assert_int_equal(pids[0], pid);
	free(pids);
	assert_int_equal(descendants_list(getpid(), &pid, 1, &pids), 0);
	free(pids);
	descendants_end(NULL, 0);
}

static void leaves_those_that_are_named(void **state)
{
	pid_t kept, its = 0;
	int fds[2];

	(void)state;
	be_subreaper();
	assert_int_equal(pipe(fds), 0);
	kept = fork();
	if (!kept) {
		its = fork();
		if (!its)
			sleep_for_ever();
		(void)!write(fds[1], &its, sizeof(its));
		sleep_for_ever();
	}
	assert_int_equal(read(fds[0], &its, sizeof(its)), sizeof(its));
	if (!fork())
		sleep_for_ever();
	descendants_end(&kept, 1);
	assert_int_equal(kill(kept, 0), 0);
	assert_int_equal(kill(its, 0), 0);
	descendants_end(NULL, 0);
	assert_false(has_children());
}

/* With a process limit, as a user who has no other processes. */
static void ends_those_that_multiply(void **state)
{
	struct rlimit l;

	(void)state;
	be_subreaper();
	for (int i = 0; i < 3; i++)
		if (!fork()) {
			if (!geteuid() && setuid(64321) < 0)
				_exit(1);
			l.rlim_cur = l.rlim_max = descendants_count_user() + 60;
			setrlimit(RLIMIT_NPROC, &l);
			for (;;) {
				setsid();
				if (fork() < 0)
					poll(NULL, 0, 1);
			}
		}
	poll(NULL, 0, 300);
	descendants_end(NULL, 0);
	assert_false(has_children());
}

static void counts_the_users(void **state)
{
	unsigned long before = descendants_count_user();
	pid_t pid = fork();

	(void)state;
	if (!pid)
		sleep_for_ever();
	assert_true(before >= 1);
	assert_in_range(descendants_count_user(), 1, before + 1000);
	descendants_end(NULL, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ends_those_that_ran_away),
		cmocka_unit_test(ends_those_whose_first_thread_has_ended),
		cmocka_unit_test(lists_them),
		cmocka_unit_test(leaves_those_that_are_named),
		cmocka_unit_test(ends_those_that_multiply),
		cmocka_unit_test(counts_the_users),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
