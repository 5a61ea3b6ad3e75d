/*
 * Waits for an event that no descriptor reports: check, sleep a little, check again, until a deadline.
 *
 *	struct deadline d = deadline_in(1000);
 *
 *	while (!is_there())
 *		if (!deadline_sleep(&d, 5))
 *			return err_set(e, ERR_BUSY, "…");
 *
 * The condition is checked once more after the last sleep. If there is a descriptor to wait for, use poll(2)
 * with deadline_left instead.
 */
#ifndef BASE_DEADLINE_H
#define BASE_DEADLINE_H

#include <stdbool.h>
#include <stdint.h>

struct deadline {
	int64_t at; /* milliseconds of the monotonic clock */
};

struct deadline deadline_in(int64_t ms);
/* The milliseconds that are left, for poll(2); 0 after the deadline. */
int deadline_left(const struct deadline *d);
/* Sleeps for ms milliseconds, or less if less is left. Returns false at once after the deadline. */
bool deadline_sleep(const struct deadline *d, int ms);

#endif
