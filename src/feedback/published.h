/*
 * Reads what a task has published, for a review: the difference from the fork to the tip of its branch, which is
 * what a merge brings. The objects are verified and in the shared repository. git runs in a place without attributes
 * and settings, neither the agent's nor the current directory's.
 */
#ifndef FEEDBACK_PUBLISHED_H
#define FEEDBACK_PUBLISHED_H

#include "base/err.h"
#include "base/oid.h"
#include "base/strvec.h"
#include "feedback/annotated.h"
#include "feedback/patch.h"
#include "task/task.h"

struct published {
	char tip[OID_SIZE], fork[OID_SIZE];
	void *map; /* git's output */
	size_t len;
	struct patch patch;
	struct annotated lines;
	struct strvec commits; /* "ID SUBJECT", the newest first */
};

/* The commits to read: the tip of the branch as it is now, and the fork. ERR_REFUSED if nothing was published. */
int published_ids(struct task_at *at, char tip[OID_SIZE], char fork[OID_SIZE], struct err *e);
/* Reads the difference of the two commits; `tip` and `fork` of *ret are set by the caller. */
int published_read(struct task_at *at, struct published *ret, struct err *e);
void published_release(struct published *p);
#define auto_published __attribute__((cleanup(published_release))) struct published

#endif
