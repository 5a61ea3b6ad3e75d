/*
 * Runs a garth command as a child of an event loop. Its output is collected up to a limit, and it has a time
 * limit. The child is the program that runs now, even if its file was replaced.
 *
 *	child_start(base, &(struct child_spec){ .args = &words, .fn = on_answer, .arg = x, … }, &child, e)
 *
 * fn is called once, from the loop, when the command has ended; then the child is freed.
 */
#ifndef SERVE_CHILD_H
#define SERVE_CHILD_H

#include <event2/event.h>
#include <stdbool.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/strvec.h"

struct child;

/* code is the exit code, as a shell's $?, or one of these. */
#define CHILD_LATE (-1) /* it took too long and was killed */
#define CHILD_LONG (-2) /* it printed too much and was killed */
typedef void child_fn(void *arg, int code, const struct buf *out);

struct child_spec {
	const struct strvec *args; /* without "garth" */
	const struct buf *in;      /* its stdin; NULL: nothing */
	size_t out_max;            /* limit for its stdout; 0: throw it away */
	unsigned seconds;
	bool heard; /* it shares our stderr; else its stderr is thrown away */
	child_fn *fn;
	void *arg;
};

int child_start(struct event_base *base, const struct child_spec *s, struct child **ret, struct err *e);
/* Ends the command and all that it has started; fn is not called. c may be NULL. With patience, sends SIGTERM
 * and waits for CHILD_PATIENCE_MS at most before it kills. */
#define CHILD_PATIENCE_MS 5000
void child_end(struct child *c, bool patience);

#endif
