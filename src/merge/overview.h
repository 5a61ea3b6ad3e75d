/*
 * What a list of tasks shows of their commits, found for all tasks together: how far each has diverged from its
 * target, how much it changes, the subject of its last commit, and its conflicts.
 *
 *	struct deadline d = deadline_in(3000);
 *	struct overview *v = xcalloc(tasks->n + 1, sizeof(*v));
 *	overview_find(c, tasks, &d, v);        v[i] is about tasks->v[i]
 *	overview_release(v, tasks->n);
 *
 * The store caches all of it by the ids of the commits. While no branch moves, a thousand tasks need no git and
 * one question to the store. If the target has moved, a few gits answer for all tasks together. What is not
 * found by the deadline stays unknown; the next call goes on from there.
 */
#ifndef MERGE_OVERVIEW_H
#define MERGE_OVERVIEW_H

#include <stdbool.h>
#include <stddef.h>

#include "base/deadline.h"
#include "merge/conflicts.h"
#include "merge/merge.h"
#include "store/store.h"
#include "task/context.h"

/* What a task's commits change since the newest commit that they have in common with the target, as
 * `garth diff --published` shows it. */
struct overview_diff {
	size_t files, insertions, deletions;
};

struct overview {
	bool known; /* the divergence; false: there is no target, it is gone, or there was no time */
	struct divergence divergence;
	char fork[OID_SIZE]; /* the newest commit that it has in common with the target */
	bool diff_known;
	struct overview_diff diff;
	char *subject; /* of the last published commit; NULL if there is none, or it is not known */
	struct conflict_list conflicts; /* with the target, and with other tasks of the list */
	bool compared;                  /* the conflicts are complete */
};

/* Sets what is known of each task of the list; v has room for all of them and is zero. Removed tasks and tasks
 * without a repository stay unknown. */
void overview_find(
	struct context *c, const struct task_list *tasks, const struct deadline *by, struct overview *v);
void overview_release(struct overview *v, size_t n);

#endif
