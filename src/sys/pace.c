#include "sys/pace.h"

#include <unistd.h>

#include "sys/clock.h"

void pace_init(struct pace *p)
{
	*p = (struct pace){ PACE_BURST, clock_seconds() };
}

void pace_keep(struct pace *p)
{
	time_t now = clock_seconds(), more = now - p->paid > PACE_BURST ? PACE_BURST : now - p->paid;

	p->paid = now;
	p->credit += (unsigned)more * PACE_PER_SECOND;
	if (p->credit > PACE_BURST)
		p->credit = PACE_BURST;
	if (p->credit)
		p->credit--;
	else
		usleep(1000000 / PACE_PER_SECOND);
}
