/*
 * Sync brings the target's new commits into a task's branch. First the target's new value is shown inside
 * (renew.h), then git inside rebases or merges, then the result is published for the user like any other
 * commit. On a conflict, git inside aborts, and the conflicting files are returned. Blocks.
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
	bool moved; /* false: the branch had all of the target already, or there were conflicts */
};

/* merge: make a merge commit instead of a rebase. conflicts: paths as git inside names them. */
int sync_task(struct publisher *pub, bool merge, struct sync_result *ret, struct strvec *conflicts,
	struct refusal *no, struct err *e);

/* Syncs without being asked, if the configuration says so. A task is rebased if it is behind its target, has
 * no uncommitted changes, and has published nothing for SYNC_QUIET_SECONDS (or sync.rebase_frequency, if
 * shorter). On a conflict the task is paused with the files in its note, and sync is tried again only after
 * the target has moved. */
#define SYNC_QUIET_SECONDS 60
int sync_quiet(struct publisher *pub, struct err *e);

#endif
