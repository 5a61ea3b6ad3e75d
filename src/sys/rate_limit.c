#include "sys/rate_limit.h"

#include <unistd.h>

#include "sys/clock.h"

void rate_limit_init(struct rate_limit *p)
{
	*p = (struct rate_limit){ RATE_LIMIT_BURST, clock_seconds() };
}

void rate_limit_wait(struct rate_limit *p)
{
	time_t now = clock_seconds(),
	       more = now - p->paid > RATE_LIMIT_BURST ? RATE_LIMIT_BURST : now - p->paid;

	p->paid = now;
	p->credit += (unsigned)more * RATE_LIMIT_PER_SECOND;
	if (p->credit > RATE_LIMIT_BURST)
		p->credit = RATE_LIMIT_BURST;
	if (p->credit)
		p->credit--;
	else
		usleep(1000000 / RATE_LIMIT_PER_SECOND);
}
