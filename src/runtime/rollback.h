/*
 * Rolling a task back. The gateway does it (history/rollback.h); before and after it, ignored directories of a
 * stopped task are moved, not copied (workspace/aside.h).
 */
#ifndef RUNTIME_ROLLBACK_H
#define RUNTIME_ROLLBACK_H

#include <jansson.h>

#include "base/err.h"
#include "base/strvec.h"
#include "store/store.h"
#include "task/context.h"

/* in: {"full":true}, {"snapshot":N} or one file, as gateway/routes.h has it; it is consumed. *ret is the
 * gateway's answer. `warnings` gets what the user should know, a sentence each. */
int runtime_rollback(
	struct context *c, struct task *t, json_t *in, struct strvec *warnings, json_t **ret, struct err *e);
/* Takes a rollback back: the task goes to the snapshot that was taken before it. */
int rollback_undo(struct context *c, const struct deed *d, struct strvec *warnings, struct err *e);

#endif
