/*
 * The target's branch of the remote, brought here for a task whose user allows that (git.fetch): by the
 * user's own git, with credentials that no agent sees, as the ref that the user's own `git fetch` writes.
 * From then on the task is shown it, by gate_renew.
 */
#ifndef PUSH_FETCH_H
#define PUSH_FETCH_H

#include "base/err.h"
#include "base/oid.h"
#include "store/store.h"
#include "task/context.h"

struct fetch_result {
	char *remote, *branch;                 /* short */
	char *ref;                             /* refs/remotes/REMOTE/BRANCH */
	char old[OID_SIZE], new_oid[OID_SIZE]; /* old is "" where it was not here */
};
void fetch_result_release(struct fetch_result *r);
#define auto_fetch_result __attribute__((cleanup(fetch_result_release))) struct fetch_result

/* ERR_USAGE: the task has no target. ERR_NOTFOUND: no remote, or it has no such branch. Else the remote's own
 * words. Recorded, also where it fails. */
int fetch_target(struct context *c, struct task *t, struct fetch_result *ret, struct err *e);

/* The ref that the task has fetched to, on the heap; NULL where it has not, or may no more. */
char *fetch_shown(const struct context *c, int task_dir);

#endif
