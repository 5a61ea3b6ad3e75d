/*
 * A garth command in a process of its own, beside an event loop: what it prints is gathered up to a limit,
 * and it has a limit of time. It is this very program, also where the file it was started from has been
 * replaced.
 *
 *	child_start(base, &(struct child_spec){ .args = &words, .fn = on_answer, .arg = x, … }, &child, e)
 */
#ifndef SERVE_CHILD_H
#define SERVE_CHILD_H

#include <event2/event.h>
#include <stdbool.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/strvec.h"

struct child;

/* Its end, after which the child is no more. code is as a shell gives it, or one of these. */
#define CHILD_LATE (-1) /* it took too long, and was killed */
#define CHILD_LONG (-2) /* it printed too much, and was killed */
typedef void child_fn(void *arg, int code, const struct buf *out);

struct child_spec {
	const struct strvec *args; /* without "garth" */
	size_t out_max;            /* of its stdout; 0: thrown away */
	unsigned seconds;
	bool heard; /* its stderr is ours; else thrown away */
	child_fn *fn;
	void *arg;
};

int child_start(struct event_base *base, const struct child_spec *s, struct child **ret, struct err *e);
/* Ends it, with all that it has started, before its time; fn is not called. NULL is fine. With patience, it
 * is asked (SIGTERM) and waited for, CHILD_PATIENCE_MS at the most. */
#define CHILD_PATIENCE_MS 5000
void child_end(struct child *c, bool patience);

#endif
