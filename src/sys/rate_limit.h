/* Rate limiter: allows a burst, then a steady rate. Garth records nearly every request of an agent, and an
 * agent that keeps asking must not fill the disk. */
#ifndef SYS_RATE_LIMIT_H
#define SYS_RATE_LIMIT_H

#include <time.h>

#define RATE_LIMIT_BURST      400u
#define RATE_LIMIT_PER_SECOND 20u

struct rate_limit {
	unsigned credit; /* requests that are served without waiting */
	time_t paid;     /* when credit was last added, on the monotonic clock */
};

void rate_limit_init(struct rate_limit *p);
/* Takes one credit. Blocks if there is none. */
void rate_limit_wait(struct rate_limit *p);

#endif
