/* A running task stands still: every process inside is stopped, and goes on where it was. Commands that are
 * started meanwhile run. */
#ifndef INSIDE_PAUSE_H
#define INSIDE_PAUSE_H

#include "base/err.h"
#include "inside/inside.h"

/* why becomes the task's note. ERR_REFUSED where it does not run. */
int pause_task(struct inside *in, const char *why, struct err *e);
/* ERR_REFUSED where it is not paused. */
int resume_task(struct inside *in, struct err *e);

#endif
