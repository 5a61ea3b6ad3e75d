/*
 * Pushes a task's published commits to a branch of a remote repository (G9). The user asks for it, by `garth
 * push` or by `push:` in a task file; an agent can only ask for what that file allows.
 *
 * It pushes the task's branch, which only the gateway writes, so every commit in it was checked. If the
 * remote's branch has moved, the branch is fetched, the task's commits are rebased onto it (as `garth merge
 * --rebase` computes it, without a checkout), and the push is tried again after a random delay. It never
 * forces. The task's own branch, its workspace and the user's checkout do not change. Blocks on the network,
 * and while another push of the project runs.
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
	const char *remote; /* NULL: "local" if there is such a remote, else "origin" */
	const char *branch; /* short name on the remote; NULL: garth/<task> */
	unsigned retries;   /* after the first try */
	/* Called before the remote is contacted, when the remote and the branch are known; may be NULL. */
	void (*before)(const struct task *t, const struct push_result *r);
};

struct push_result {
	char *remote, *branch;
	char tip[OID_SIZE];     /* of the task's branch */
	char new_oid[OID_SIZE]; /* of the remote's branch now; differs from `tip` after a rebase */
	size_t commits;         /* of the task since its base */
	bool nothing;           /* the remote already had everything */
	unsigned tries;
	struct strvec conflicts; /* paths; with ERR_CONFLICT */
	struct strvec lfs;       /* ids of LFS content that the pushed commits need: it is not pushed */
};
void push_result_release(struct push_result *r);
#define auto_push_result __attribute__((cleanup(push_result_release))) struct push_result

/* Checks the name of a remote's branch and makes a full name short. Of the branches garth/…, only the task's
 * own is allowed; `task` is NULL if there is no task yet. */
int push_check_branch(const char **name, const struct task *task, struct err *e);

/* ERR_NOTFOUND: no such remote. ERR_REFUSED: nothing is published. ERR_CONFLICT: files conflict
 * (ret->conflicts), or the remote's branch moved during every try. Other errors are the remote's message.
 * Afterwards the task counts as pushed (store_task_pushed), and as merged if its commits are in its target
 * now (task/merged.h). */
int push_task(
	struct context *c, struct task *t, const struct push_spec *s, struct push_result *ret, struct err *e);

#endif
