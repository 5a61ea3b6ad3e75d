/*
 * Where a clone comes from (W3): the remote `local`, else `origin`, else the repository itself. The target's
 * newest commit there becomes the task's base; its objects come into the user's repository, none of whose
 * branches moves; what it has of the remote does, as with a `git fetch`.
 */
#ifndef TASK_SOURCE_H
#define TASK_SOURCE_H

#include "base/err.h"
#include "git/repo.h"
#include "task/context.h"

struct source {
	const struct repo *repo;
	char *ref; /* holds what was fetched, until the task has a branch */
};

/* Fetches the target (full name, "" for none) and makes it r->commit. Nothing changes where there is no
 * remote, or it has no such branch. */
int source_take(const struct home *h, struct repo *r, const char *target, struct source *ret, struct err *e);
void source_release(struct source *s);
#define auto_source __attribute__((cleanup(source_release))) struct source

#endif
