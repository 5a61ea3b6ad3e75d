/* A running task stands still: every process inside is stopped, and goes on where it was. Commands that are
 * started meanwhile run. */
#ifndef PUBLISH_PAUSE_H
#define PUBLISH_PAUSE_H

#include "base/err.h"
#include "publish/gate.h"

/* why becomes the task's note. ERR_REFUSED where it does not run. */
int pause_task(struct gate *g, const char *why, struct err *e);
/* ERR_REFUSED where it is not paused. */
int resume_task(struct gate *g, struct err *e);

#endif
