/* What is told to the audit log and to the store about a move (move.h). */
#ifndef MERGE_RECORD_H
#define MERGE_RECORD_H

#include "base/err.h"
#include "git/repo.h"
#include "merge/journal.h"
#include "task/context.h"

/* Before anything moves; where it fails, nothing may. */
int record_intent(struct context *c, const struct journal *j, struct err *e);
/* It came to nothing: why is in `why`. */
void record_failure(struct context *c, const struct journal *j, const struct err *why);
/* A merge is a deed that can be taken back, and its task is merged unless it runs or has gone on; taking it
 * back undoes both. Does nothing twice. */
int record_done(struct context *c, const struct repo *r, const struct journal *j, struct err *e);

#endif
