/*
 * What the user is told about a host that a task could not reach: why, and what `garth allow --host` needs to
 * allow it. The name is the agent's text, so nothing that is not a host's name is offered for copying.
 *
 *	auto_str entry = refused_explain(&network.allow, &asked, &why);
 *	if (entry) → "HOST:PORT is not on the task's list; WHY: garth allow --host TASK ENTRY"
 */
#ifndef TASK_REFUSED_H
#define TASK_REFUSED_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/strvec.h"
#include "config/config.h"
#include "store/store.h"

/* Returns the entry, on the heap; NULL if it is no host's name. Appends the reason: where a listed name leads
 * (ASKED_PRIVATE), or what on the list may have been meant; nothing if there is no more to say. */
char *refused_explain(const struct strvec *allow, const struct asked *a, struct buf *why);
/* The sentence for a user who watches the task. NULL if it is no host's name; *ret_entry is as above. */
char *refused_sentence(const struct strvec *allow, const struct asked *a, const char *task, char **ret_entry);

/* Whether a host is known to serve the statistics or updates of the task's agent (agents.NAME.quiet_hosts): nobody
 * needs to be told that it was refused. It is recorded all the same. In a task of another agent, or of none, it is not
 * quiet. */
bool refused_is_quiet(const struct config *c, int task_dir, const struct asked *a);

#endif
