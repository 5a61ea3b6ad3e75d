/*
 * `garth run --agents claude,codex "PROMPT"`: one task for each agent, in the background, from the same prompt and the
 * same commit.
 */
#ifndef CLI_RUN_AGENTS_H
#define CLI_RUN_AGENTS_H

#include <stdbool.h>

#include "task/context.h"

struct run_agents {
	const char *list; /* names with commas between them */
	const char *base; /* --base; NULL: HEAD */
	bool json;
	/* Runs one of them, in a process of its own, and returns the exit code. It prints the task's name on stdout.
	 * `base` is the commit from which all start; NULL: as the user said. */
	int (*one)(const char *agent, const char *base, void *arg);
	void *arg;
};

/* Checks that all agents are known and installed before a task is made. Returns the exit code: that of the first that
 * failed; the others run all the same. */
int run_agents(const struct run_agents *r);

#endif
