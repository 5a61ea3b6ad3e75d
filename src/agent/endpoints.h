/* Finds the hosts of an agent's model in the user's settings; the parts of agent_endpoints. */
#ifndef AGENT_ENDPOINTS_H
#define AGENT_ENDPOINTS_H

#include <stdbool.h>
#include <stddef.h>

#include "agent/agent.h"
#include "base/buf.h"

/* Whether a variable's name has an ending that stands for an endpoint. */
bool endpoint_is_named(const char *name, size_t len);
/* Adds the host of "https://user@host:8443/v1", "host:8443" or "host", if it is a host and not in the list
 * yet. */
void endpoint_add(const char *value, struct strvec *ret);
/* Adds the hosts that the text of a configuration file names. Modifies the text. */
void endpoints_in(const char *path, struct buf *text, struct strvec *ret);
/* Adds the hosts in all of the agent's log-in files. */
void endpoints_of_files(
	const struct config_agent *a, const struct agent_env *env, int user_home, struct strvec *ret);

#endif
