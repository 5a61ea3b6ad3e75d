/* What publish.c and commit.c share. */
#ifndef PUBLISH_JOB_H
#define PUBLISH_JOB_H

#include <stdbool.h>

#include "base/strvec.h"
#include "publish/publisher.h"
#include "publish/oidset.h"
#include "publish/refusal.h"
#include "publish/walk.h"

/* One publish on its way. */
struct job {
	struct publisher *pub;
	struct verifier *v;
	const char *tip, *by;
	int offer;                            /* a pack that came with the request, or -1 */
	char old[OID_SIZE], target[OID_SIZE]; /* the branch's value; the target's, "" for none */
	char fetched[OID_SIZE]; /* the target's value at the remote, where the task was shown it; else "" */
	char fork[OID_SIZE];    /* the newest commit that the tip and the target have */
	bool moved;             /* somebody else moved the branch */
	bool lost;              /* its value is not there any more: all of the task's commits come again */
	bool forward;           /* the old tip is an ancestor of the new one */
	struct strvec known;    /* the base, the old tip, the target's, here and at the remote */
	struct oidset fresh;
	struct walk_result walk;
};

/* Somebody else moved the branch: a refusal that says what to do. */
int refuse_moved(const struct job *j, const char *now, struct refusal *no, struct err *e);

/* More tips than these are not told to the packing side: each costs it a look. */
#define PUBLISH_KNOWN_MAX 60

/* known_commits.c */

/* Everything that the task was ever shown or has published, in so far as it is there. */
int publish_list_known(struct job *j, struct strvec *ret, struct err *e);
/* Whether the task was shown all of these commits, or has published them. */
int publish_are_known(struct job *j, const struct strvec *commits, bool *ret, struct err *e);
/* What a pack leaves out: what is known, and, where the new commits stand on a tag or an older branch, where
 * git inside says that they do. That is a claim, and only makes the pack smaller. */
void publish_left_out(struct job *j, struct strvec *ret);

/* commit.c: what was found good is recorded, kept, and becomes the branch's value. */
int publish_commit(struct job *j, struct refusal *no, struct err *e);
/* Waits for a `git gc` of the user's that may take the new objects for garbage; after the move they are put
 * back where it has. */
void outlast_gc(struct job *j, bool moved);

#endif
