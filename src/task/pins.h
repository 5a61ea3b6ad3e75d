/* What a task's refs keep, beside its branch, worked out from the store and from what the task is shown: for
 * the files of this room that make, move and remove refs (refs.h). */
#ifndef TASK_PINS_H
#define TASK_PINS_H

#include "base/err.h"
#include "base/strvec.h"
#include "git/ref.h"
#include "store/store.h"
#include "task/context.h"

#define PINS "refs/garth/"

/* Names on the heap: of the ref on the base, of the one that keeps the rest, and of a removed task's. */
char *pins_base(int64_t id);
char *pins_kept(int64_t id);
char *pins_trash(int64_t id, const char *what);

/* Adds to a transaction what makes `kept` hold what it should, if it does not. Without `write` the commit
 * that it would name is not made. */
int pins_add_kept(struct context *c, const struct repo *r, const struct task *t, bool write,
	struct ref_txn *txn, struct err *e);
/* The same for the ref that keeps all of a removed task, with its branch's tip and `more` (NULL for none);
 * *ret_name is that ref, on the heap, or NULL where there is nothing left to keep. */
int pins_add_trash(struct context *c, const struct repo *r, const struct task *t, const char *tip,
	const struct strvec *more, struct ref_txn *txn, char **ret_name, struct err *e);
/* Removes the refs in "OID REF" lines, but for one (NULL for none). */
void pins_drop(struct ref_txn *txn, const struct buf *lines, const char *but);

#endif
