/* The policy: rules about what may be published. Pure functions, without files or processes. Globs are those
 * of base/glob.h. Each check returns 0, or -1 with `no` and `e` filled. */
#ifndef PUBLISH_POLICY_H
#define PUBLISH_POLICY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/strvec.h"
#include "config/config.h"
#include "publish/refusal.h"

struct policy {
	const struct config_policy *rules;
	const struct strvec *allowed; /* globs that the user allowed for this task; may be NULL */
	const char *task;             /* its name, for messages */
	const char *author; /* "Name <mail>" that commits must have (policy.identity: forced), or NULL */
	const char *within; /* the path of the submodule that all paths are in; "" or NULL: none */
	/* Whether the submodule at the path may move to the commit from one of these; NULL: none may move. */
	bool (*may_link)(void *arg, const char *path, const char *commit, const struct strvec *from);
	void *may_link_arg;
};

bool policy_is_protected(const struct policy *p, const char *path);
/* The same for a symbolic link. A link is also protected if a protected path could be beneath it: with
 * ".claude -> elsewhere", elsewhere/settings.json acts as .claude/settings.json. */
bool policy_is_protected_link(const struct policy *p, const char *path);

/* One changed path of the net difference. mode is git's (0: removed), size a blob's (0: unknown). For a
 * symbolic link, link is its target ("" if the blob cannot be a link's target). Refusals: protected_path,
 * outside_scope, file_too_large, gitlink, link_leaves (absolute; ".." beyond the root or after a name; into a .git),
 * odd_mode. */
struct policy_path {
	const char *path;
	unsigned mode;
	bool added;
	uint64_t size;
	const char *link;
	bool was_gitlink;    /* the path was a submodule */
	const char *gitlink; /* the commit that a gitlink names; NULL: it is none */
	const struct strvec
		*gitlinks; /* what the commits that it is compared with have there; only if it is one */
};
int policy_path(const struct policy *p, const struct policy_path *c, struct refusal *no, struct err *e);
/* The size of one fresh blob anywhere in the new commits; name is for the message. */
int policy_size(const struct policy *p, const char *name, uint64_t size, struct refusal *no, struct err *e);
/* One fresh commit: author and committer ("Name <mail>") and message. */
int policy_commit(const struct policy *p, const char *oid, const char *author, const char *committer,
	const char *message, struct refusal *no, struct err *e);
/* Totals: all published commits, files added, bytes added. */
int policy_counts(const struct policy *p, int64_t commits, uint64_t files, uint64_t bytes, struct refusal *no,
	struct err *e);

#endif
