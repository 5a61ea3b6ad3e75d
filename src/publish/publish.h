/*
 * Publishing: copies commits from a task's private storage into the shared repository. Steps:
 *
 *	the tip is named (a claim)
 *	inside:   git pack-objects of what is new, onto a pipe; or the hook sent a small pack
 *	verifier: unpacked in the quarantine, --strict                   fault publish-taken
 *	walk, policy                                                     fault publish-checked
 *	audit: recorded                                                  fault publish-recorded
 *	objects moved into the shared repository                         fault publish-kept
 *	refs/heads/garth/<task> moves, compare-and-swap                  fault publish-moved
 *	store: the tip, the number of commits                            fault publish-stored
 *
 * A crash between two steps leaves a clean repository: at worst objects that no ref names, or a branch that
 * is newer than the store. The next inside_open updates the store from the ref.
 *
 * All functions but publish_is_large block.
 */
#ifndef PUBLISH_PUBLISH_H
#define PUBLISH_PUBLISH_H

#include <stdbool.h>

#include "base/err.h"
#include "base/oid.h"
#include "publish/publisher.h"
#include "publish/refusal.h"

struct publish_result {
	char tip[OID_SIZE], old[OID_SIZE]; /* equal: there was nothing to publish */
	size_t commits;
	bool rewrote; /* the old tip is not an ancestor; it is kept as a snapshot */
};

/* tip: a commit's full id in lower-case hexadecimal; it is checked here. `by` says who asked, for the audit
 * log: "commit", "hook", "end", "user" … */
int publish(struct publisher *pub, const char *tip, const char *by, struct publish_result *ret,
	struct refusal *no, struct err *e);
/* The same with a pack of what is new in the caller's file. If the pack is not good, it is ignored. */
int publish_offered(struct publisher *pub, const char *tip, const char *by, int pack,
	struct publish_result *ret, struct refusal *no, struct err *e);
/* Removes what the last publish left, and starts what the next one will need. Called after the answer is
 * sent, so that nobody waits for it; otherwise the next publish does it. */
void publish_tidy(struct publisher *pub);
/* Whether publish_tidy should be called soon: something large is left, or something has to be started. */
bool publish_is_large(const struct publisher *pub);
/* Whether the branch inside is a file with the published tip in it, or with the base if nothing is published. Otherwise
 * git has to be asked. */
bool publish_is_unmoved(const struct inside *in);
/* The tip of the task's branch inside, a claim; "" if the branch is missing. */
int publish_find_tip(struct inside *in, char out[OID_SIZE], struct err *e);

#endif
