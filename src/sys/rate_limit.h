/* How fast somebody is served who asks on and on: so many at once, then so many a second. Nearly everything
 * that an agent asks is recorded, and the record must not fill the disk. */
#ifndef SYS_RATE_LIMIT_H
#define SYS_RATE_LIMIT_H

#include <time.h>

#define RATE_LIMIT_BURST      400u
#define RATE_LIMIT_PER_SECOND 20u

struct rate_limit {
	unsigned credit; /* that are served at once */
	time_t paid;     /* when credit was last given, on the monotonic clock */
};

void rate_limit_init(struct rate_limit *p);
/* Takes one; waits where there is no credit. */
void rate_limit_wait(struct rate_limit *p);

#endif
