/*
 * Undo: what can be taken back, newest first, and taking it back. What one command did is one thing to undo.
 *
 *	undo_find(c, task, &list, e)        what `garth undo [TASK]` may mean here
 *	undo_describe(&list.v[0])           "the merge of task 'fix' into main"
 *	undo_begin(c, &list.v[0], &lock, e) nobody else takes it back meanwhile
 *	undo_deed(c, &list.v[0].deeds[i], …) for each deed, the oldest first
 */
#ifndef RUNTIME_UNDO_H
#define RUNTIME_UNDO_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/strvec.h"
#include "store/store.h"
#include "task/context.h"

struct undoable {
	struct deed *deeds; /* newest first, all of one project */
	size_t n;
	char *project, *path; /* the project's name, and its main checkout */
	bool gone;            /* there is nothing left to take any of it back from */
};

struct undo_list {
	struct undoable *v;
	size_t n;
	int64_t project; /* that of the current directory; 0 for none */
};
void undo_list_release(struct undo_list *l);
#define auto_undo_list __attribute__((cleanup(undo_list_release))) struct undo_list

/* With a task's name: what was done to tasks of that name, in the repository around the current directory if
 * anything was, else anywhere. Without one: what was done in that repository; outside of all, anywhere. A merge
 * and the removal of the task that came with it are one. */
int undo_find(struct context *c, const char *task, struct undo_list *ret, struct err *e);
/* In words, on the heap. */
char *undo_describe(const struct undoable *u);
/* Whether the deed is a removal that came with the task's merge. */
bool undo_came_with_merge(const struct deed *d);

/* What was brought back. */
enum undo_outcome {
	UNDO_TRASH,     /* the task, out of the trash */
	UNDO_ARCHIVE,   /* the task, out of its archive */
	UNDO_MERGE,     /* the target, as it was before the merge */
	UNDO_WITH_TASK, /* the target, and the task out of the trash */
	UNDO_TARGET,    /* the target; the task cannot come back */
	UNDO_ROLLBACK,  /* the task, as it was before the rollback */
};

/* Takes the lock of all undoing. ERR_BUSY if another command has taken it back by now. */
int undo_begin(struct context *c, const struct undoable *u, int *ret_lock, struct err *e);
/* Takes one deed back, and what went with it; recorded before and, if it fails, after. *d becomes the deed that
 * was taken back last. `warnings` gets what could not come back, a sentence each. */
int undo_deed(
	struct context *c, struct deed *d, enum undo_outcome *ret, struct strvec *warnings, struct err *e);

#endif
