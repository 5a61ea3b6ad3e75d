/* A running task is paused, goes on, or is ended for a limit: what is written down of it. */
#ifndef LIMITS_CHANGE_STATE_H
#define LIMITS_CHANGE_STATE_H

#include "audit/audit.h"
#include "base/err.h"
#include "task/context.h"

/* The audit line, the state and the note, in this order. `to` NULL: the state stays. */
int limits_change_state(struct context *c, struct task *t, struct audit *a, const char *event, const char *to,
	const char *note, struct err *e);

#endif
