/*
 * Predicts in which files a task would conflict, before anybody merges (G11).
 *
 * Only a task's own changes count: what its published commits change since they branched off the target. A
 * task without such changes conflicts with nothing, whatever a sync brought into it.
 *
 *	auto_conflict_list l = { 0 };
 *	merge_conflicts(c, t, all, &l, e)    with its target first, then with the tasks of `all`, in their order
 *
 * The store caches each answer of git by the ids of the commits, so that asking again runs no git. Only tasks
 * that have published something are compared.
 */
#ifndef MERGE_CONFLICTS_H
#define MERGE_CONFLICTS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/deadline.h"
#include "base/err.h"
#include "store/store.h"
#include "task/context.h"

/* At most this many paths for one pair. */
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
/* task is NULL for the target. */
void conflict_add(struct conflict_list *l, const char *task, const char *path);

int merge_conflicts(struct context *c, const struct task *t, const struct task_list *all,
	struct conflict_list *ret, struct err *e);

/* A task's position relative to its target; the pointers are commits. */
struct conflict_side {
	const char *target; /* NULL if it has none */
	const char *fork;   /* the newest commit that it has in common with its target; NULL if not known */
	bool nothing;       /* its target has all of its commits */
};
/* The same for all tasks of a list, each compared with the others of its project. ret[i] gets the conflicts of
 * task i; compared[i] is false if there was no time to compare it with those after it. While nothing moves, each
 * project is one question to the store. */
void conflicts_between(struct context *c, const struct task_list *tasks, const struct conflict_side *sides,
	const struct deadline *by, struct conflict_list **ret, bool *compared);

#endif
