/*
 * What `garth run` runs if it is given a prompt, or nothing, instead of a command: an agent. How an agent takes
 * a prompt is data in its row of the configuration (config/defaults.c).
 */
#ifndef CLI_RUN_AGENT_H
#define CLI_RUN_AGENT_H

#include <stdbool.h>

#include "base/err.h"
#include "base/strvec.h"
#include "task/context.h"

/* Whether the words are a prompt: there is one, with a space in it, and no such program. */
bool run_agent_is_prompt(char *const *words);

struct run_agent {
	const char *name; /* the agent that the user named; NULL: agents.default, or the only installed one */
	const char *prompt; /* NULL: none */
	bool headless;      /* nobody watches */
	bool quiet;
};
/* Makes the command. ERR_USAGE, with the installed agents, if it is not clear which agent is meant. */
int run_agent_words(struct context *c, const struct run_agent *a, struct strvec *ret, struct err *e);

#endif
