/*
 * Sync: the target's new commits come into a task's branch. git inside does it, on the private repository,
 * after the target's new value was shown there (renew.h); then the result is published like any other commit,
 * on the user's word. On a conflict git inside goes back to where it was, and the files are named.
 */
#ifndef HISTORY_SYNC_H
#define HISTORY_SYNC_H

#include <stdbool.h>

#include "base/err.h"
#include "base/oid.h"
#include "base/strvec.h"
#include "publish/publisher.h"
#include "publish/refusal.h"

struct sync_result {
	char base[OID_SIZE], tip[OID_SIZE];
	bool moved; /* false: there was nothing to bring in, or (with conflicts) it could not be */
};

/* merge: a merge commit instead of a rebase. conflicts: paths, as git inside names them. */
int sync_task(struct publisher *pub, bool merge, struct sync_result *ret, struct strvec *conflicts,
	struct refusal *no, struct err *e);

/* By itself, where the configuration says so: a task that is behind its target, has nothing uncommitted, and
 * has published nothing for SYNC_QUIET_SECONDS (or sync.rebase_frequency, where that is shorter) is rebased.
 * On a conflict it is paused, with the files in its note, and it is tried again only when the target has
 * moved on. */
#define SYNC_QUIET_SECONDS 60
int sync_quiet(struct publisher *pub, struct err *e);

#endif
