/* The monotonic clock, for deadlines. */
#ifndef SYS_CLOCK_H
#define SYS_CLOCK_H

#include <stdint.h>
#include <time.h>

int64_t clock_ms(void);
time_t clock_seconds(void);

#endif
