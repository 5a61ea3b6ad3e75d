/*
 * Publishes from another branch: the tip of a branch that the agent made inside, or a commit, becomes the tip
 * of the task's branch. All usual checks apply; policy.rewrite decides whether it may be other than a
 * fast-forward. Inside, the task's branch moves to the same commit. If it is checked out, git inside updates
 * the files first, and restores them if the publish is refused. If HEAD is already at that commit, the task's
 * branch is checked out. Blocks.
 */
#ifndef PUBLISH_FROM_BRANCH_H
#define PUBLISH_FROM_BRANCH_H

#include "publish/publish.h"

/* name: a branch inside ("feature"), "HEAD", or a commit's id. ERR_NOTFOUND if there is none. */
int publish_from(struct publisher *pub, const char *name, struct publish_result *ret, struct refusal *no,
	struct err *e);

#endif
