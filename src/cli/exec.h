/* Runs a command in a task that exists: `garth exec`, `garth shell`, `garth run --in`. */
#ifndef CLI_EXEC_H
#define CLI_EXEC_H

#include <stdbool.h>

#include "base/strvec.h"

/* The command line. */
struct exec_opts {
	const char *mode, *agent;
	struct strvec allow, env;
	bool weaker;
	bool own_session; /* a second agent in the workspace (A3) */
};

/* argv NULL: a shell. Prints what goes wrong, and returns the exit code. */
int exec_in_task(const char *name, const struct exec_opts *x, char *const *argv);

#endif
