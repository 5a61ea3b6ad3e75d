#include "sys/pace.h"

#include <unistd.h>

time_t pace_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec;
}

void pace_init(struct pace *p)
{
	*p = (struct pace){ PACE_BURST, pace_now() };
}

void pace_keep(struct pace *p)
{
	time_t now = pace_now(), more = now - p->paid > PACE_BURST ? PACE_BURST : now - p->paid;

	p->paid = now;
	p->credit += (unsigned)more * PACE_PER_SECOND;
	if (p->credit > PACE_BURST)
		p->credit = PACE_BURST;
	if (p->credit)
		p->credit--;
	else
		usleep(1000000 / PACE_PER_SECOND);
}
