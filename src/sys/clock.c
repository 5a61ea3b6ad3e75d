#include "sys/clock.h"

int64_t clock_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

time_t clock_seconds(void)
{
	return (time_t)(clock_ms() / 1000);
}
