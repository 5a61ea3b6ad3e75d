#include "base/deadline.h"

#include <errno.h>
#include <limits.h>
#include <time.h>

static int64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

struct deadline deadline_in(int64_t ms)
{
	return (struct deadline){ now_ms() + ms };
}

int deadline_left(const struct deadline *d)
{
	int64_t left = d->at - now_ms();

	return left <= 0 ? 0 : left > INT_MAX ? INT_MAX : (int)left;
}

bool deadline_sleep(const struct deadline *d, int ms)
{
	int left = deadline_left(d);
	struct timespec t;

	if (!left)
		return false;
	if (ms > left)
		ms = left;
	t = (struct timespec){ .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000L };
	while (nanosleep(&t, &t) < 0 && errno == EINTR)
		;
	return true;
}
