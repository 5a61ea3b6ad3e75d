/* What is needed to compare a task with its target and with others, without running git. */
#ifndef MERGE_COMPARE_H
#define MERGE_COMPARE_H

#include "base/err.h"
#include "base/oid.h"
#include "git/repo.h"
#include "store/store.h"
#include "task/context.h"

/* Opens the task's repository, without searching for it. */
int compare_open_repo(struct context *c, const struct task *t, struct repo *ret, struct err *e);
/* The commit of the task's target. A clone comes from the remote: its target is the remote's branch as last
 * fetched, if that is known. ERR_NOTFOUND if there is no such branch. */
int compare_read_target(const struct repo *r, const struct task *t, char out[OID_SIZE], struct err *e);

#endif
