/* POST /api/v1/git/commit: what is staged inside becomes a commit, is published, and only then is what the
 * task's branch inside points to. A refusal leaves everything inside as it was (G3). */
#ifndef GATEWAY_COMMIT_STAGED_H
#define GATEWAY_COMMIT_STAGED_H

#include "base/err.h"
#include "publish/publisher.h"
#include "publish/publish.h"
#include "publish/refusal.h"

#define COMMIT_MESSAGE_MAX (64u << 10)

struct commit_request {
	const char *repo, *worktree; /* may be NULL; else they must be this task's own */
	const char *message;
	const char *author; /* "Name <mail>" or NULL */
};

int commit_staged(struct publisher *pub, const struct commit_request *q, struct publish_result *ret,
	struct refusal *no, struct err *e);

#endif
