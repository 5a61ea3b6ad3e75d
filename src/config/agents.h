#ifndef CONFIG_AGENTS_H
#define CONFIG_AGENTS_H

#include "config/config.h"

/* The agent of that name, added to c where it is not there. Good until the next one is added. */
struct config_agent *config_agent_add(struct config *c, const char *name);

#endif
