/* How a task's agent gets its log-in: stored when the agent is started, for `garth show` and for commands that join the
 * task. */
#ifndef TASK_CREDENTIALS_H
#define TASK_CREDENTIALS_H

#include <stdbool.h>

#include "base/err.h"
#include "base/strvec.h"

struct credentials_note {
	const char *agent;
	const char *how;       /* config/credentials.h: "proxy", "copy", "none" */
	struct strvec kept;    /* names of secrets that stay outside */
	struct strvec entered; /* names of secrets that are in the task */
	bool tls;   /* the task trusts a certificate authority of its own (credentials/authority.h) */
	char *text; /* owns agent and how, if it was loaded */
};

void credentials_release(struct credentials_note *n);

/* If it cannot be written, `garth show` does not show it. */
void credentials_save(int task_dir, const struct credentials_note *n);
/* False if no agent was started yet. */
bool credentials_load(int task_dir, struct credentials_note *ret);
/* Whether the task was started with this agent. *ret_tls: and with a certificate authority. */
bool credentials_are_of(int task_dir, const char *agent, bool *ret_tls);

#endif
