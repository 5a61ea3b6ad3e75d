/*
 * Solves a conflict in a workspace (G10). resolve_begin makes a resolution task on the target, shows it the
 * other task's branch, and begins the merge of the two inside, up to the conflicts. Commits there are
 * published as usual, and resolve_continue (`garth merge --continue`) merges them into the target. All
 * functions block.
 */
#ifndef RUNTIME_RESOLVE_H
#define RUNTIME_RESOLVE_H

#include "base/err.h"
#include "merge/merge.h"
#include "store/store.h"
#include "task/context.h"

/* Makes the resolution task. The caller frees *ret_name. */
int resolve_begin(
	struct context *c, struct task *t, const struct merge_spec *s, char **ret_name, struct err *e);
/* Merges the solution. ERR_REFUSED if there is none, or if it lacks commits of the task. *ret_in is the
 * resolution task; the merge is recorded as its own. */
int resolve_continue(struct context *c, struct task *t, const struct merge_spec *s, struct merge_result *ret,
	struct task *ret_in, struct err *e);
/* For a conflict of task t that was solved in task `in` without these two functions: `in` was merged, as the commit `result`. */
int resolve_merged(
	struct context *c, struct task *t, const struct task *in, const char *result, struct err *e);
/* *ret is the id of the task whose conflict was solved in task `in` and that was merged with it; 0 for
 * none. */
int resolve_of(struct context *c, int64_t in, int64_t *ret, struct err *e);
/* After the merge of `in` was undone: restores the state of the task whose conflict it solved, unless that
 * task is in the trash. */
int resolve_taken_back(struct context *c, int64_t in, struct err *e);

#endif
