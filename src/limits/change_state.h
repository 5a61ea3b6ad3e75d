/* Records that a running task is paused, resumed or ended because of a limit. */
#ifndef LIMITS_CHANGE_STATE_H
#define LIMITS_CHANGE_STATE_H

#include "audit/audit.h"
#include "base/err.h"
#include "task/context.h"

/* Writes the audit line, the state and the note, in this order. If `to` is NULL, the state stays. */
int limits_change_state(struct context *c, struct task *t, struct audit *a, const char *event, const char *to,
	const char *note, struct err *e);

#endif
