/* The commit at the tip of a task's branch: where the branch left its target, and whether it has moved. */
#ifndef TASK_TIP_H
#define TASK_TIP_H

#include <stdbool.h>

#include "base/err.h"
#include "base/oid.h"
#include "git/repo.h"
#include "store/store.h"

/* The newest common ancestor of the branch and its target: a merge applies the difference from there. The
 * base is not enough, because the task may have merged the target and undone its changes. The base if that
 * cannot be found out. */
void tip_fork(const struct repo *r, const struct task *t, char out[OID_SIZE]);

/* Whether a commit's id is `seen`, or begins with it (seven digits or more). */
bool tip_is(const char *oid, const char *seen);
/* ERR_CONFLICT if the branch is not at this commit any more. Whoever acts on what the user has seen calls it
 * under the lock that keeps the branch where it is. */
int tip_check(const struct repo *r, const struct task *t, const char *seen, struct err *e);

/* The error about a task whose branch is where it began. If its last run left changes, the hint is how to commit them. */
int tip_refuse_unpublished(const struct task *t, struct err *e);

#endif
