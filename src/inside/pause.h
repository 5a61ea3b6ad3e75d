/* Pauses and resumes a running task: every process inside is stopped, and later continues. Commands that
 * start during the pause run. */
#ifndef INSIDE_PAUSE_H
#define INSIDE_PAUSE_H

#include "base/err.h"
#include "inside/inside.h"

/* Pauses. `why` becomes the task's note. ERR_REFUSED if the task does not run. */
int pause_task(struct inside *in, const char *why, struct err *e);
/* Pauses because the user said so: the task gets no note, because nobody has to look at it. */
int pause_for_user(struct inside *in, struct err *e);
/* Resumes. ERR_REFUSED if the task is not paused. */
int resume_task(struct inside *in, struct err *e);

#endif
