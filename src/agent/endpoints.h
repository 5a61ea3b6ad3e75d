/* The hosts of an agent's model, as the user's own settings name them: what agent_endpoints is made of. */
#ifndef AGENT_ENDPOINTS_H
#define AGENT_ENDPOINTS_H

#include <stdbool.h>
#include <stddef.h>

#include "agent/agent.h"
#include "base/buf.h"

/* Whether a variable's name ends as one does that names an endpoint. */
bool endpoint_is_named(const char *name, size_t len);
/* "https://user@host:8443/v1", "host:8443", "host": the host, where it is one and not in the list yet. */
void endpoint_add(const char *value, struct strvec *ret);
/* Those that the text of a configuration file names, which is taken apart. */
void endpoints_in(const char *path, struct buf *text, struct strvec *ret);
/* And all of the agent's files that are copied into a task. */
void endpoints_of_files(const struct config_agent *a, int user_home, struct strvec *ret);

#endif
