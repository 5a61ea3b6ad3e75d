/*
 * Publishing: commits from the task's private storage into the shared repository.
 *
 *	the tip is named (a claim)
 *	inside:   git pack-objects of what is new, onto a pipe; or the hook has sent a small one along
 *	verifier: taken apart in quarantine, --strict                    fault publish-taken
 *	walk, policy                                                     fault publish-checked
 *	audit: recorded                                                  fault publish-recorded
 *	objects moved into the shared repository                         fault publish-kept
 *	refs/heads/garth/<task> moves, compare-and-swap                  fault publish-moved
 *	store: the tip, the number of commits                            fault publish-stored
 *
 * A crash between any two leaves a clean repository: at worst objects that no ref names, or a branch that the
 * store does not know of yet, which the next inside_open brings up to date from the ref.
 */
#ifndef PUBLISH_PUBLISH_H
#define PUBLISH_PUBLISH_H

#include <stdbool.h>

#include "base/err.h"
#include "base/oid.h"
#include "publish/publisher.h"
#include "publish/refusal.h"

struct publish_result {
	char tip[OID_SIZE], old[OID_SIZE]; /* old == tip: there was nothing to do */
	size_t commits;
	bool rewrote; /* the old tip is not an ancestor; it is kept as a snapshot */
};

/* tip: a commit's full id in lower-case hexadecimal, checked here. `by` is who asked, for the audit:
 * "commit", "hook", "end", "user" … */
int publish(struct publisher *pub, const char *tip, const char *by, struct publish_result *ret,
	struct refusal *no, struct err *e);
/* With a pack of what is new, in a file of the caller's: an offer, which is taken where it is good. */
int publish_offered(struct publisher *pub, const char *tip, const char *by, int pack,
	struct publish_result *ret, struct refusal *no, struct err *e);
/* Clears away what the last publish needed, and starts what the next one will need. Nobody has to wait for
 * it: it is called when the answer is on its way, else by the next publish. */
void publish_tidy(struct publisher *pub);
/* Whether that is better done soon: something large is left, or something is to be started. */
bool publish_is_large(const struct publisher *pub);
/* The tip of the task's branch in private storage, as the inside names it; "" where it has none. */
int publish_find_tip(struct inside *in, char out[OID_SIZE], struct err *e);

#endif
