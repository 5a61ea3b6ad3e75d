/*
 * Finds the source of a clone (W3): the remote `local`, else `origin`, else the repository itself. The newest
 * commit of the target's branch there becomes the task's base. It is fetched into the user's repository,
 * where no branch moves; only the remote-tracking ref is updated, as by `git fetch`.
 */
#ifndef TASK_SOURCE_H
#define TASK_SOURCE_H

#include "base/err.h"
#include "git/repo.h"
#include "task/context.h"

struct source {
	const struct repo *repo;
	char *ref; /* keeps what was fetched until the task has a branch */
};

/* Fetches the target (its full name, or "") and makes it r->commit. Changes nothing if there is no remote, or
 * it has no such branch. Blocks on the network. */
int source_take(const struct home *h, struct repo *r, const char *target, struct source *ret, struct err *e);
void source_release(struct source *s);
#define auto_source __attribute__((cleanup(source_release))) struct source

#endif
