/*
 * Which files a task would conflict in, before anybody merges (G11).
 *
 * Only a task's own changes count: what its published commits change since they left the target. A task
 * without any conflicts with nothing, whatever it has got from its target by a sync.
 *
 *	auto_conflict_list l = { 0 };
 *	merge_conflicts(c, t, all, &l, e)    with its target first, then with the tasks of `all`, in their order
 *
 * Each answer of git's is kept in the store by the ids of the commits it is about, so a second look starts no
 * git. Only tasks that have published something are compared.
 */
#ifndef MERGE_CONFLICTS_H
#define MERGE_CONFLICTS_H

#include <stddef.h>

#include "base/err.h"
#include "store/store.h"
#include "task/context.h"

/* At most so many paths for one pair. */
#define CONFLICT_PATHS_MAX 1000

struct conflict {
	char *task; /* the other task's name; NULL for the target */
	char *path;
};

struct conflict_list {
	struct conflict *v;
	size_t n;
};

void conflict_list_release(struct conflict_list *l);
#define auto_conflict_list __attribute__((cleanup(conflict_list_release))) struct conflict_list
/* task may be NULL. */
void conflict_add(struct conflict_list *l, const char *task, const char *path);

int merge_conflicts(struct context *c, const struct task *t, const struct task_list *all,
	struct conflict_list *ret, struct err *e);

#endif
