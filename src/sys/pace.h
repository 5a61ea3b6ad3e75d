/* How fast somebody is served who asks on and on: so many at once, then so many a second. Nearly everything
 * that an agent asks is recorded, and the record must not fill the disk. */
#ifndef SYS_PACE_H
#define SYS_PACE_H

#include <time.h>

#define PACE_BURST      400u
#define PACE_PER_SECOND 20u

struct pace {
	unsigned credit; /* that are served at once */
	time_t paid;     /* when credit was last given, on the monotonic clock */
};

void pace_init(struct pace *p);
/* Takes one; waits where there is no credit. */
void pace_keep(struct pace *p);

#endif
