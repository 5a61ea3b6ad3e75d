/*
 * What can be taken back: deeds, newest first, those of one command together.
 *
 *	undo_find(c, task, &list, e)       what `garth undo [TASK]` may mean here
 *	undo_describe(c, &list.v[0])       "the merge of task 'fix' into main"
 */
#ifndef CLI_UNDO_LIST_H
#define CLI_UNDO_LIST_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
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

/* With a task's name, what was done to tasks of that name, in the repository around the current directory
 * where anything was, else anywhere. Without one, what was done in that repository; outside of all, anywhere.
 * A merge that a task went with is one with the removal. */
int undo_find(struct context *c, const char *task, struct undo_list *ret, struct err *e);

/* In words, on the heap. */
char *undo_describe(const struct undoable *u);
json_t *undo_json(const struct undoable *u);

#endif
