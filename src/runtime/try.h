/* Runs one command of an agent in an empty task without network, which is removed afterwards with all that is in it. */
#ifndef RUNTIME_TRY_H
#define RUNTIME_TRY_H

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
};
int runtime_try(struct context *c, const struct try_spec *s, int *ret_code, struct err *e);

#endif
