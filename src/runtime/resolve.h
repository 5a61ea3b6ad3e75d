/*
 * A conflict solved in a workspace (G10): a resolution task stands on the target, is shown the other task's
 * branch, and has the merge of the two begun in it, conflicts and all. What is committed there is published
 * like anything else, and `garth merge --continue` brings it to the target.
 */
#ifndef RUNTIME_RESOLVE_H
#define RUNTIME_RESOLVE_H

#include "base/err.h"
#include "merge/merge.h"
#include "store/store.h"
#include "task/context.h"

/* Makes the resolution task; *ret_name is its name, on the heap. */
int resolve_begin(
	struct context *c, struct task *t, const struct merge_spec *s, char **ret_name, struct err *e);
/* Merges what was solved; ERR_REFUSED where nothing was, or not all of the task's commits are in it. *ret_in
 * is the resolution task, whose merge it is. */
int resolve_continue(struct context *c, struct task *t, const struct merge_spec *s, struct merge_result *ret,
	struct task *ret_in, struct err *e);
/* The task whose conflict was solved in that one, and that went with its merge: *ret is its id, 0 for none.
 */
int resolve_of(struct context *c, int64_t in, int64_t *ret, struct err *e);
/* That merge was taken back: so is the state of the task whose conflict it solved, if it is out of the trash.
 */
int resolve_taken_back(struct context *c, int64_t in, struct err *e);

#endif
