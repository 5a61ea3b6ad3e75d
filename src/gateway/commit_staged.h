/* POST /api/v1/git/commit: makes a commit of what is staged inside, publishes it, and only then moves the
 * task's branch inside to it. A refusal changes nothing inside (G3). Blocks. */
#ifndef GATEWAY_COMMIT_STAGED_H
#define GATEWAY_COMMIT_STAGED_H

#include "base/err.h"
#include "publish/publisher.h"
#include "publish/publish.h"
#include "publish/refusal.h"

#define COMMIT_MESSAGE_MAX (64u << 10)

struct commit_request {
	const char *repo, *worktree; /* NULL, or exactly this task's paths */
	const char *message;
	const char *author; /* "Name <mail>" or NULL */
};

int commit_staged(struct publisher *pub, const struct commit_request *q, struct publish_result *ret,
	struct refusal *no, struct err *e);

#endif
