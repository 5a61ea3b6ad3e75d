/*
 * Merges a task and then removes it, because a merged task needs no workspace any more (T6). It is kept if it runs,
 * if it has more than was merged, or if it was merged into another branch than its target. Blocks.
 */
#ifndef RUNTIME_LAND_H
#define RUNTIME_LAND_H

#include <stdbool.h>

#include "base/err.h"
#include "merge/merge.h"
#include "store/store.h"
#include "task/context.h"

struct land_spec {
	struct merge_spec merge;
	bool resolved; /* merge what was solved in the task's resolution task (resolve.h) */
	bool keep;     /* keep the task and its workspace */
};

struct land_result {
	struct merge_result merge; /* its conflicts are set on failure, too */
	struct task in;            /* with `resolved`: the resolution task, which was merged */
	bool removed;              /* the task is in the trash */
	bool in_removed;           /* so is the resolution task */
	struct err kept;           /* why it is not, if that was tried */
};
void land_result_release(struct land_result *r);
#define auto_land_result __attribute__((cleanup(land_result_release))) struct land_result

int land_task(
	struct context *c, struct task *t, const struct land_spec *s, struct land_result *ret, struct err *e);

#endif
