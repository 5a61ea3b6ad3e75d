/*
 * Checks what a publish brings, object by object: connectivity and policy in one walk. Each object is read
 * once, and the walk stops at its limits, so a tree bomb costs no more than a tree at the limit. Blocks for
 * WALK_SECONDS at most.
 *
 * `fresh` are the objects that came with the pack and are not in the shared repository. The walk reads fresh
 * commits from the tip on, up to commits that are not fresh (the stops). It reads every fresh tree. Each
 * entry of a fresh tree must be fresh too (then it is checked), or equal the entry of the same name in a
 * parent's tree, or be an existing blob. Any other existing tree may be incomplete: then `doubt` is set, and
 * git itself checks connectivity.
 *
 * Policy (policy.h) is applied to the net difference: paths at which the tip's tree differs from the base's
 * tree and from the tree of every shown target. Each fresh commit before the tip is checked in the same way,
 * so that nothing can be hidden in a commit and removed by a later one: a rebase, or a checkout of the old
 * commit, would bring it back.
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
	const char *base;             /* what the tip is compared with: the task's base, or something newer */
	const char *start;            /* the task's base */
	const struct strvec *compare; /* commits of the shown targets; may be empty */
	int64_t commits_before;       /* published before */
	uint64_t bytes_before;
	const struct policy *policy;
};

struct walk_result {
	size_t commits; /* fresh commits */
	size_t files;   /* added paths: neither the base nor a target has a file there */
	uint64_t bytes; /* of all fresh objects */
	/* Parents of fresh commits that are not fresh, each once; the tip itself if it is not fresh. */
	struct strvec stops;
	struct oidset reached; /* fresh objects that the tip reaches */
	struct strvec paths;   /* the first 1,000 changed paths: "A path", "M path", "D path" */
	bool doubt;
};

void walk_release(struct walk_result *r);
#define auto_walk __attribute__((cleanup(walk_release))) struct walk_result

/* ERR_REFUSED with *no filled: policy. ERR_FAILED: an object is missing or malformed; if that is the agent's
 * fault, no->code is "incomplete". */
int walk(const struct walk_spec *s, struct walk_result *ret, struct refusal *no, struct err *e);

#endif
