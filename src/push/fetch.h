/*
 * Fetches the target's branch from the remote for a task, if the user allows it (git.fetch). The user's own
 * git does this, with credentials that no agent sees, and updates refs/remotes/REMOTE/BRANCH as the user's
 * `git fetch` would. After that, renew_shown shows the ref to the task. Blocks on the network.
 */
#ifndef PUSH_FETCH_H
#define PUSH_FETCH_H

#include "base/err.h"
#include "base/oid.h"
#include "store/store.h"
#include "task/context.h"

struct fetch_result {
	char *remote, *branch;                 /* short names */
	char *ref;                             /* refs/remotes/REMOTE/BRANCH */
	char old[OID_SIZE], new_oid[OID_SIZE]; /* old is "" if the ref is new */
};
void fetch_result_release(struct fetch_result *r);
#define auto_fetch_result __attribute__((cleanup(fetch_result_release))) struct fetch_result

/* ERR_USAGE: the task has no target. ERR_NOTFOUND: there is no remote, or it has no such branch. Other errors
 * are git's message. Recorded in the audit log, failures too. */
int fetch_target(struct context *c, struct task *t, struct fetch_result *ret, struct err *e);

/* The ref that was fetched for the task, on the heap; NULL if there is none, or git.fetch is off by now. */
char *fetch_shown(const struct context *c, int task_dir);

#endif
