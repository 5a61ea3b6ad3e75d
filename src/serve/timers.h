/*
 * What is done every hour, day and week (T6): rows of jobs. When each was last done is a fact in the store,
 * set when it is done, so that who is killed meanwhile does it again, and nothing twice that was done. One
 * process at a time is at it (the lock timers.lock in the Garth home).
 */
#ifndef SERVE_TIMERS_H
#define SERVE_TIMERS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/strvec.h"
#include "task/context.h"

/* A line about what was done, or (warning) what somebody should look at. */
typedef void timers_tell(void *arg, bool warning, const char *line);

enum timers_end {
	TIMERS_DONE,
	TIMERS_FAILED, /* of a job; it was told, kept no other from being done, and is due again */
	TIMERS_BUSY,   /* another process is at it; nothing was done */
};
/* Does what is due: one of these, or -1. *ret gets the names of the rows that were due ("hourly"). With
 * `look` nothing is removed: what would be is told, and is due as before. */
int timers_run(struct context *c, bool look, timers_tell *tell, void *arg, struct strvec *ret, struct err *e);
/* The seconds until something is due; 0: now. */
int timers_wait(struct context *c, int64_t *ret, struct err *e);

/* The same for one: done last at `last` (0: never), due every `period`. A clock that went back makes it due.
 */
int64_t timers_left(int64_t last, int64_t period, int64_t now);

/* A server removes nothing for so long after its start: whoever just started it may not know yet what it
 * does. The seconds that are left of that, both times by a clock that counts sleep too. */
#define TIMERS_FIRST 3600
int64_t timers_first_left(int64_t started, int64_t now);

#endif
