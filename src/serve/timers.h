/*
 * Hourly, daily and weekly jobs (T6), as rows of a table. The store has the time when each row was last done.
 * That is written after the jobs, so a row whose process was killed is done again. The lock timers.lock in
 * the Garth home keeps two processes from running jobs at once.
 */
#ifndef SERVE_TIMERS_H
#define SERVE_TIMERS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/strvec.h"
#include "task/context.h"

/* Reports a line about what was done, or (warning) what somebody should check. */
typedef void timers_tell(void *arg, bool warning, const char *line);

enum timers_end {
	TIMERS_DONE,
	TIMERS_FAILED, /* a job failed; that was reported, the other jobs were done, and it is due again */
	TIMERS_BUSY,   /* another process runs the jobs; nothing was done */
};
/* Does what is due. Returns one of these, or -1. Appends the names of the rows that were due ("hourly") to
 * *ret. look: a dry run; nothing is removed, and the row stays due. */
int timers_run(struct context *c, bool look, timers_tell *tell, void *arg, struct strvec *ret, struct err *e);
/* Seconds until something is due; 0: now. */
int timers_wait(struct context *c, int64_t *ret, struct err *e);

/* The same for one row: last done at `last` (0: never), due every `period`. If the clock was set back, it is
 * due. */
int64_t timers_left(int64_t last, int64_t period, int64_t now);

/* For so long after its start, a server removes nothing: whoever just started it may not know yet what it
 * does. timers_first_left gives the seconds that are left; both times are from a clock that also counts while
 * the machine sleeps. */
#define TIMERS_FIRST 3600
int64_t timers_first_left(int64_t started, int64_t now);

#endif
