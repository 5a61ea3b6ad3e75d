/* src/keeper/notifier.c: what the keeper tells the process that notifies. */
#include "testing.h"

#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "keeper/notifier.h"

/* Nobody reads: the user's program takes its time. */
static void test_limits_leave_room_for_the_end(void **state)
{
	enum notify_event last = NOTIFY_LIMIT;
	char message[1000];
	unsigned limits = 0;
	int ends[2];

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
	for (unsigned i = 0; i < 2000; i++)
		notifier_tell(ends[0], NOTIFY_LIMIT, "the disk is nearly full");
	notifier_tell(ends[0], NOTIFY_ENDED, "");
	close(ends[0]);
	while (recv(ends[1], message, sizeof(message), MSG_DONTWAIT) > 0) {
		memcpy(&last, message, sizeof(last));
		limits += last == NOTIFY_LIMIT;
	}
	close(ends[1]);
	assert_true(limits > 2);
	assert_true(limits < 100);
	assert_int_equal(last, NOTIFY_ENDED);
}

/* Its parent ends at once, while it gets ready. A process that has ended has closed its end of the socket. */
static void test_it_outlives_its_parent(void **state)
{
	const struct notify_job j = { .home = "/nonexistent", .task_dir = -1 };
	unsigned gone = 0;

	(void)state;
	for (unsigned i = 0; i < 100; i++) {
		struct pollfd p = { .fd = notifier_start(&j), .events = POLLIN };

		assert_true(p.fd >= 0);
		gone += poll(&p, 1, 3) > 0;
		notifier_tell(p.fd, NOTIFY_NOTHING, "");
		close(p.fd);
	}
	assert_int_equal(gone, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_limits_leave_room_for_the_end),
		cmocka_unit_test(test_it_outlives_its_parent),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
