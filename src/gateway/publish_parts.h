/* What publish.c and carry.c share. */
#ifndef GATEWAY_PUBLISH_PARTS_H
#define GATEWAY_PUBLISH_PARTS_H

#include <stdbool.h>

#include "base/strvec.h"
#include "gateway/gate.h"
#include "gateway/oidset.h"
#include "gateway/refusal.h"
#include "gateway/walk.h"

/* One publish on its way. */
struct job {
	struct gate *g;
	struct verifier *v;
	const char *tip, *by;
	int offer;                /* a pack that came with the request, or -1 */
	char old[65], target[65]; /* the branch's value; the target's, "" for none */
	char fetched[65];         /* the target's value at the remote, where the task was shown it; else "" */
	char fork[65];            /* the newest commit that the tip and the target have */
	bool moved;               /* somebody else moved the branch */
	bool lost;                /* its value is not there any more: all of the task's commits come again */
	bool forward;             /* the old tip is an ancestor of the new one */
	struct strvec known;      /* the base, the old tip, the target's, what else is shown */
	struct oidset fresh;
	struct walk_result walk;
};

/* Somebody else moved the branch: a refusal that says what to do. */
int refuse_moved(const struct job *j, const char *now, struct refusal *no, struct err *e);

/* carry.c: what was found good is recorded, kept, and becomes the branch's value. */
int carry_out(struct job *j, struct refusal *no, struct err *e);
/* Waits for a `git gc` of the user's that may take the new objects for garbage; after the move they are put
 * back where it has. */
void outlast_gc(struct job *j, bool moved);

#endif
