/*
 * What a publish brings, looked at object by object: connectivity and policy in one go, each id once,
 * stopping at the limits, so that a tree bomb costs no more than a tree at the limit.
 *
 * `fresh` are the objects that came with the pack and are not in the shared repository. From the tip, fresh
 * commits are read until those that are not fresh (the stops). Every fresh tree is read once; each of its
 * entries must be fresh (and then is looked at), or stand at the same name in the tree it is compared with,
 * or be a blob that exists. A tree that is none of these exists perhaps, and perhaps not whole: then `doubt`
 * is set, and git itself checks connectivity.
 *
 * Policy (policy.h) is asked about the net difference: paths where the tip's tree differs both from the
 * base's and from every shown target's tree. Each fresh commit on the way is asked about in the same way, so
 * that nothing is hidden in a commit that a later one takes back: a rebase, or a look at an old commit, would
 * bring it to light again.
 */
#ifndef PUBLISH_WALK_H
#define PUBLISH_WALK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/strvec.h"
#include "publish/objects.h"
#include "publish/oidset.h"
#include "publish/policy.h"
#include "publish/refusal.h"

struct walk_spec {
	struct objects *objects;
	unsigned hash_len;
	const struct oidset *fresh;
	const char *tip;
	const char *base;             /* what the tip is compared with: the task's base, or younger */
	const char *start;            /* the task's base */
	const struct strvec *compare; /* commits of the targets that are shown; may be empty */
	int64_t commits_before;       /* published already */
	uint64_t bytes_before;
	const struct policy *policy;
};

struct walk_result {
	size_t commits;        /* fresh ones */
	size_t files;          /* paths added: neither the base nor a target has a file there */
	uint64_t bytes;        /* of all fresh objects */
	struct strvec stops;   /* commits that fresh ones stand on (each once); the tip itself where it is not
				  fresh */
	struct oidset reached; /* fresh objects that the tip reaches */
	struct strvec paths;   /* changed paths, "A path" "M path" "D path", the first 1,000 */
	bool doubt;
};

void walk_release(struct walk_result *r);
#define auto_walk __attribute__((cleanup(walk_release))) struct walk_result

/* ERR_REFUSED with *no filled: policy. ERR_FAILED: an object is missing or malformed ("incomplete" in
 * no->code too, as that is the agent's doing). */
int walk(const struct walk_spec *s, struct walk_result *ret, struct refusal *no, struct err *e);

#endif
