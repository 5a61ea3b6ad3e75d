/*
 * Waiting with a deadline for something that tells nobody when it happens: look, sleep a little, look again.
 *
 *	struct deadline d = deadline_in(1000);
 *
 *	while (!is_there())
 *		if (!deadline_sleep(&d, 5))
 *			return err_set(e, ERR_BUSY, "…");
 *
 * There is one more look after the last sleep. If a descriptor can tell, poll(2) it for deadline_left instead.
 */
#ifndef BASE_DEADLINE_H
#define BASE_DEADLINE_H

#include <stdbool.h>
#include <stdint.h>

struct deadline {
	int64_t at; /* milliseconds of the monotonic clock */
};

struct deadline deadline_in(int64_t ms);
/* The milliseconds that are left, for poll(2); 0 when it is over. */
int deadline_left(const struct deadline *d);
/* Sleeps so many milliseconds, less if less is left. False, at once, when the deadline is over. */
bool deadline_sleep(const struct deadline *d, int ms);

#endif
