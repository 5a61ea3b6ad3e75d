/* The gateway's part in a task's end, while the inside is still there: drafts are published, work on other
 * branches is named (T2). What could not be published is told to the store (the run's drafts, and the
 * branch that HEAD is on where it is not the task's) and leaves tasks/<id>/unpublished, which the caller has
 * made before (task/end.h); the rest of the end is looked at from outside when everything inside is dead
 * (task/end.h). */
#ifndef PUBLISH_END_H
#define PUBLISH_END_H

#include "base/err.h"
#include "publish/publisher.h"

int publish_end(struct publisher *pub, struct err *e);

#endif
