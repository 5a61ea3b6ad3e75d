/* Shared by what merges inside: sync.c and tickets.c. */
#ifndef HISTORY_SYNC_PARTS_H
#define HISTORY_SYNC_PARTS_H

#include "publish/publisher.h"

/* The paths that a merge, or a rebase, inside has left in conflict. */
int sync_conflicts(struct publisher *pub, struct strvec *ret, struct err *e);
/* The task's branch must be checked out inside. The answer is a claim, which only decides whether to try. */
int sync_check_inside(struct publisher *pub, struct err *e);

#endif
