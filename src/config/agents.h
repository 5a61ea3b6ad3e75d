#ifndef CONFIG_AGENTS_H
#define CONFIG_AGENTS_H

#include "config/config.h"

/* Returns the agent of that name, and adds it to c if it is missing. The pointer is valid until the next one
 * is added. */
struct config_agent *config_agent_add(struct config *c, const char *name);

#endif
