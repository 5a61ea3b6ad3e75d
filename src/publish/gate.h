/*
 * The gateway of one task: the only way into the shared repository. It runs in a process of its own, which
 * the keeper forks when somebody first speaks to one of the task's two sockets, and which ends when nobody
 * has spoken for a while. One request is handled at a time; everything may block.
 */
#ifndef PUBLISH_GATE_H
#define PUBLISH_GATE_H

#include <stdbool.h>
#include <stdint.h>

#include "audit/audit.h"
#include "base/err.h"
#include "base/oid.h"
#include "base/strvec.h"
#include "jail/runner.h"
#include "publish/refusal.h"
#include "publish/verifier.h"
#include "git/ref.h"
#include "task/context.h"
#include "task/task.h"

struct gate {
	struct context context; /* opened anew in this process */
	struct task task;
	struct task_at at;
	struct audit *audit;
	struct runner inside;
	struct runner_piped packer; /* a pack-objects inside that waits for its revisions; see bring.h */
	struct verifier verifier;
	bool has_verifier;
	bool offered;             /* the last publish came with its pack */
	bool untidy;              /* what the last publish needed is still there: publish_tidy */
	struct ref_session *refs; /* a running update-ref */
	bool untold;              /* the store does not know yet what task.published says */
	/* Where the branch at fork_tip left its target: the newest commit that both have. */
	char fork_tip[OID_SIZE], fork[OID_SIZE];
	char pushed[OID_SIZE]; /* the tip that was last pushed for the agent: a second time is for nothing */
};

/* Opens everything but the verifier, and brings the store up to date where the branch is not where it says.
 * inside_orders stays the caller's. */
int gate_open(struct gate *g, const char *task, int inside_orders, struct err *e);
void gate_close(struct gate *g);
/* Whether its jail is one of Landlock alone. */
bool gate_is_landlock_only(const struct gate *g);
/* The verifier, started if it is not there. */
int gate_verifier(struct gate *g, struct verifier **ret, struct err *e);
/* Ends it: it failed, or something in it did. The next gate_verifier starts another. */
void gate_drop_verifier(struct gate *g);
/* Who is being answered, -1 for nobody: where that connection is closed, no command is waited for any more.
 */
void gate_set_caller(struct gate *g, int fd);
/* The task's row and configuration as they are now. */
int gate_refresh(struct gate *g, struct err *e);

#endif
