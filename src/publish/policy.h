/* The rules about what is published, pure: no files, no processes. Globs are those of base/glob.h. */
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
	const struct strvec *allowed; /* globs that the user allowed this task; may be NULL */
	const char *task;             /* its name, for messages */
	const char *author; /* "Name <mail>" that commits must have where the identity is forced, or NULL */
};

bool policy_is_protected(const struct policy *p, const char *path);
/* The same for a symbolic link, which is protected as well where a protected path could lie beneath it:
 * ".claude -> elsewhere" makes elsewhere/settings.json what .claude/settings.json was. */
bool policy_is_protected_link(const struct policy *p, const char *path);

/* One changed path of the net difference. mode is git's (0: removed). size of a blob (0 where not known).
 * For a symbolic link, link is its text ("" where it has none that a link can have). 0, or -1 with no and e
 * filled: protected_path, file_too_large, gitlink, link_leaves (absolute, ".." beyond the root or behind a
 * name, into a .git), odd_mode. */
struct policy_path {
	const char *path;
	unsigned mode;
	bool added;
	uint64_t size;
	const char *link;
};
int policy_path(const struct policy *p, const struct policy_path *c, struct refusal *no, struct err *e);
/* One fresh blob that is somewhere in the history; name is for the message. */
int policy_size(const struct policy *p, const char *name, uint64_t size, struct refusal *no, struct err *e);
/* One fresh commit's author and committer ("Name <mail>") and its message. */
int policy_commit(const struct policy *p, const char *oid, const char *author, const char *committer,
	const char *message, struct refusal *no, struct err *e);
/* Counts: commits published in all, files added, bytes added. */
int policy_counts(const struct policy *p, int64_t commits, uint64_t files, uint64_t bytes, struct refusal *no,
	struct err *e);

#endif
