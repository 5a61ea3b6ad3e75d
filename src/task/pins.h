/* Computes which commits a task's refs must keep, apart from its branch, from the store and from what the
 * task is shown. Only for the files of task/ that make, move and remove refs (refs.h). */
#ifndef TASK_PINS_H
#define TASK_PINS_H

#include "base/err.h"
#include "base/strvec.h"
#include "git/ref.h"
#include "store/store.h"
#include "task/context.h"

#define PINS "refs/garth/"

/* Names of refs, on the heap: for the base, for the rest, and for a removed task. */
char *pins_base(int64_t id);
char *pins_kept(int64_t id);
char *pins_trash(int64_t id, const char *what);

/* Updates the ref `kept` in a transaction so that it keeps what it must. Without `write`, the commit that it
 * names is not made. */
int pins_add_kept(struct context *c, const struct repo *r, const struct task *t, bool write,
	struct ref_txn *txn, struct err *e);
/* Sets the ref `kept` in a repository of a submodule, where it keeps just these commits. */
int pins_keep_these(const struct repo *r, const struct task *t, const struct strvec *commits,
	struct ref_txn *txn, struct err *e);
/* The same for the ref that keeps everything of a removed task, including its branch's tip and `more` (may be
 * NULL). *ret_name is that ref, on the heap; NULL if nothing needs to be kept. */
int pins_add_trash(struct context *c, const struct repo *r, const struct task *t, const char *tip,
	const struct strvec *more, struct ref_txn *txn, char **ret_name, struct err *e);
/* Removes the refs in "OID REF" lines, except `but` (may be NULL). */
void pins_drop(struct ref_txn *txn, const struct buf *lines, const char *but);

#endif
