/*
 * Undo: lists what can be undone, newest first, and undoes it. All that one command did is undone together.
 *
 *	undo_find(c, task, &list, e)        what `garth undo [TASK]` may mean here
 *	undo_describe(&list.v[0])           "the merge of task 'fix' into main"
 *	undo_begin(c, &list.v[0], &lock, e) locks out other undo commands
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
	struct deed *deeds; /* newest first, all in one project */
	size_t n;
	char *project, *path; /* the project's name, and its main checkout */
	char *merged; /* it is the merge of this, whose tasks were removed with it: "plan 'x'"; NULL */
	char *target; /* the branch that it was merged into */
	char *solved; /* the task whose conflict the merged one solved, and that was removed with it; NULL */
	bool gone;    /* nothing is left to restore it from */
};

struct undo_list {
	struct undoable *v;
	size_t n;
	int64_t project; /* the project of the current directory; 0 for none */
	char *plan;      /* merges of stages into the branch of this plan were left out; NULL */
};
void undo_list_release(struct undo_list *l);
#define auto_undo_list __attribute__((cleanup(undo_list_release))) struct undo_list

/* With a task's NAME: what was done to tasks of that name in the current directory's repository or, if there is
 * nothing, anywhere; PROJECT/NAME: in that project. Without a name: what was done in that repository or, outside of
 * all repositories, anywhere. A merge and the removal of the task that came with it are one.
 * Merges of stages into their plan's branch are left out. */
int undo_find(struct context *c, const char *task, struct undo_list *ret, struct err *e);
/* A description; the caller frees it. */
char *undo_describe(const struct undoable *u);
/* Whether the deed is a removal that came with the task's merge. */
bool undo_came_with_merge(const struct deed *d);

/* What was restored. */
enum undo_outcome {
	UNDO_TRASH,     /* the task, out of the trash */
	UNDO_ARCHIVE,   /* the task, out of its archive */
	UNDO_MERGE,     /* the target, as it was before the merge */
	UNDO_WITH_TASK, /* the target, and the task out of the trash */
	UNDO_TARGET,    /* the target; the task cannot come back */
	UNDO_ROLLBACK,  /* the task, as it was before the rollback */
	UNDO_RENAME,    /* the task's name and branch */
};

/* Takes the lock for undoing. ERR_BUSY if another command has undone it meanwhile. */
int undo_begin(struct context *c, const struct undoable *u, int *ret_lock, struct err *e);
/* Undoes one deed and what belongs to it. Recorded before and, if it fails, after. *d becomes the deed that
 * was undone last. Appends warnings about what could not be restored. */
int undo_deed(
	struct context *c, struct deed *d, enum undo_outcome *ret, struct strvec *warnings, struct err *e);

#endif
