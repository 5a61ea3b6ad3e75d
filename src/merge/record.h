/* Records a move (move.h) in the audit log and in the store. */
#ifndef MERGE_RECORD_H
#define MERGE_RECORD_H

#include "base/err.h"
#include "git/repo.h"
#include "merge/journal.h"
#include "task/context.h"

/* Before anything moves; if it fails, nothing may move. */
int record_intent(struct context *c, const struct journal *j, struct err *e);
/* The move failed; `why` says why. */
void record_failure(struct context *c, const struct journal *j, const struct err *why);
/* After a merge: adds a deed, and marks the task as merged unless it runs or has new commits. After an undo:
 * reverts both. Idempotent. */
int record_done(struct context *c, const struct repo *r, const struct journal *j, struct err *e);

#endif
