/* Runs one command of an agent in an empty task, which is removed afterwards with all that is in it. */
#ifndef RUNTIME_TRY_H
#define RUNTIME_TRY_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"
#include "config/config.h"
#include "runtime/run.h"

/* Blocks until it ends, at most `seconds`. What it prints is passed to fn. */
struct try_spec {
	const struct config_agent *agent;
	char *const *argv;
	unsigned seconds;
	runtime_output_fn *fn;
	void *arg;
	struct network *net;      /* taken from the caller; NULL: none */
	const struct strvec *env; /* variables for it; may be NULL */
	bool weaker;              /* run even if a part of the jail is missing */
	int stop; /* for runtime_try_talk: it ends when the other end of this socket is closed */
};
int runtime_try(struct context *c, const struct try_spec *s, int *ret_code, struct err *e);

/* The same for a command that has to be told something first, and is ended when it has said enough: then fn returns
 * true, and *ret_code is -1. `which` is 1 or 2, its standard output or error. The spec's own fn is not called. */
typedef bool try_talk_fn(int which, const char *data, size_t len, void *arg);
int runtime_try_talk(struct context *c, const struct try_spec *s, const struct buf *input, try_talk_fn *fn,
	int *ret_code, struct err *e);

/* Removes a task that was made for one command, with all that is in it: waits until its keeper has left, which it asks for
 * with `cancel`. */
void runtime_try_drop(struct context *c, struct task *t, bool cancel);

#endif
