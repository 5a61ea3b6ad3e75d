/*
 * A submodule of a task, opened for work inside like the task itself: git inside runs in the submodule, and published
 * commits go to the user's repository of the submodule, to a branch with the name of the task's branch.
 *
 *	auto_inside_submodule s = INSIDE_SUBMODULE_INIT;
 *	inside_submodule_open(&in, &list, n, &s, e);        list: of submodules_load
 *	inside_ask(&s.in, …), publish with s.in
 *
 * It shares the store, the audit log and the connection to the jail with the task, which must stay open, and may not
 * be refreshed meanwhile. The struct must not be moved.
 */
#ifndef INSIDE_SUBMODULE_H
#define INSIDE_SUBMODULE_H

#include "inside/inside.h"
#include "workspace/submodules.h"

struct inside_submodule {
	struct inside in;
	bool is_open;
	char git_dir[40], base[OID_SIZE];
	char *workspace, *published;
};

#define INSIDE_SUBMODULE_INIT                                                                                \
	{                                                                                                    \
		.is_open = false                                                                             \
	}

/* Opens the n-th of the list, which must have files in the task. If the branch is not at the commit that the store
 * names because a gateway died, updates the store. */
int inside_submodule_open(struct inside *task, const struct submodules *list, size_t n,
	struct inside_submodule *ret, struct err *e);
void inside_submodule_close(struct inside_submodule *s);
#define auto_inside_submodule __attribute__((cleanup(inside_submodule_close))) struct inside_submodule

#endif
