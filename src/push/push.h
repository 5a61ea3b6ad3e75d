/*
 * A task's published commits to a branch of a remote repository (G9). The user does this, by `garth push` or
 * by `push:` in a task file; an agent can only ask for what the file allows.
 *
 * What is pushed is the branch that the gateway keeps, so everything in it was checked. Where somebody else
 * was faster, the remote's branch is fetched, the task's commits are put on top of it (computed as `garth
 * merge --rebase` does, without a checkout), and it is tried again, after a moment that is not the same for
 * everybody. Nothing is ever forced. The task's own branch, its workspace and the user's checkout stay as
 * they are.
 */
#ifndef PUSH_PUSH_H
#define PUSH_PUSH_H

#include <stdbool.h>

#include "base/err.h"
#include "base/oid.h"
#include "base/strvec.h"
#include "store/store.h"
#include "task/context.h"

struct push_result;
struct push_spec {
	const char *remote; /* NULL: local, else origin */
	const char *branch; /* its short name there; NULL: garth/<task> */
	unsigned retries;   /* after the first try */
	/* Called when it is known what goes where, before the remote is asked; may be NULL. */
	void (*before)(const struct task *t, const struct push_result *r);
};

struct push_result {
	char *remote, *branch;
	char tip[OID_SIZE];     /* of the task's branch */
	char new_oid[OID_SIZE]; /* what the remote's branch is now; not `tip` where it was rebased */
	size_t commits;         /* of the task, since its base */
	bool nothing;           /* the remote had it all already */
	unsigned tries;
	struct strvec conflicts; /* paths; with ERR_CONFLICT */
};
void push_result_release(struct push_result *r);
#define auto_push_result __attribute__((cleanup(push_result_release))) struct push_result

/* The short name of a branch of a remote's; one in full is made short. Of the branches of tasks only the
 * task's own will do; `task` is NULL where there is none yet. */
int push_check_branch(const char **name, const struct task *task, struct err *e);

/* ERR_NOTFOUND: no such remote. ERR_REFUSED: nothing was published. ERR_CONFLICT: in the files named, or the
 * remote's branch kept moving. Else the remote's own words. The task is "pushed" afterwards
 * (store_task_pushed), and, where that brought it to its target (task/merged.h), merged. */
int push_task(
	struct context *c, struct task *t, const struct push_spec *s, struct push_result *ret, struct err *e);

#endif
