/*
 * Rolls a task back. The gateway does it (history/rollback.h). Around that, ignored directories of a stopped
 * task are moved, not copied (workspace/aside.h). Blocks.
 */
#ifndef RUNTIME_ROLLBACK_H
#define RUNTIME_ROLLBACK_H

#include <jansson.h>

#include "base/err.h"
#include "base/strvec.h"
#include "store/store.h"
#include "task/context.h"

/* in: {"full":true}, {"snapshot":N} or one file, as in gateway/routes.h; it is consumed. *ret is the
 * gateway's answer, which the caller frees. Appends warnings for the user, one sentence each. */
int runtime_rollback(
	struct context *c, struct task *t, json_t *in, struct strvec *warnings, json_t **ret, struct err *e);
/* Undoes a rollback: restores the snapshot that was taken before it. */
int rollback_undo(struct context *c, const struct deed *d, struct strvec *warnings, struct err *e);

#endif
