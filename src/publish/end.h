/* The gateway's part in ending a run, while the jail still exists (T2). Publishes the task's unpublished
 * commits and names work on other branches. What could not be published is written to the store (the run's
 * drafts, and HEAD's branch if it is not the task's), and tasks/<id>/unpublished stays; the caller made that
 * file before. The rest of the end is decided from outside, after everything inside is dead (task/verdict.h).
 * Blocks. */
#ifndef PUBLISH_END_H
#define PUBLISH_END_H

#include "base/err.h"
#include "publish/publisher.h"

int publish_end(struct publisher *pub, struct err *e);

#endif
