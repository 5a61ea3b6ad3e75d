/*
 * Publishing from another branch: the tip of a branch that the agent made inside, or a commit, becomes the
 * tip of the task's own branch. All of the usual checks apply; what is not a fast-forward is for
 * policy.rewrite to decide. Inside, the task's branch follows, and is checked out where its files are there
 * already; where it is checked out, git inside brings the files along first, and back if it is refused.
 */
#ifndef PUBLISH_FROM_H
#define PUBLISH_FROM_H

#include "publish/publish.h"

/* name: a branch inside ("feature"), "HEAD", or a commit's id. ERR_NOTFOUND where there is none. */
int publish_from(struct publisher *pub, const char *name, struct publish_result *ret, struct refusal *no,
	struct err *e);

#endif
