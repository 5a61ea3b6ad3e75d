/*
 * The results of a task's tickets, inside the task (plan/tickets.h): each is a branch garth/TASK.ID, which git inside can
 * merge. In the shared repository that is the branch of the ticket's own task.
 */
#ifndef HISTORY_TICKETS_H
#define HISTORY_TICKETS_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/oid.h"
#include "base/strvec.h"
#include "publish/publisher.h"
#include "publish/refusal.h"

struct ticket_ref {
	int64_t ticket; /* in the store */
	char *ref;
	char tip[OID_SIZE];
};

/* Sets the refs inside, sends their objects in if the task does not borrow them, and stores what was shown. If the agent
 * has moved such a ref, that is lost. Blocks. */
int tickets_show(struct inside *in, const struct ticket_ref *v, size_t n, struct err *e);

/* git inside merges the ref into the task's branch, and the result is published. 1: it conflicts in these files; then the
 * workspace is as it was. ERR_CONFLICT if the workspace is not ready for a merge. */
int tickets_merge(
	struct publisher *pub, const char *ref, struct strvec *conflicts, struct refusal *no, struct err *e);

#endif
