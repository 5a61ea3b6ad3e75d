/* The built-in values, as data. Every list ends in NULL. */
#ifndef CONFIG_DEFAULTS_H
#define CONFIG_DEFAULTS_H

#include <stdint.h>

#define DEFAULT_NET      "none"
#define DEFAULT_LOG_SIZE (10u << 20)

struct default_agent {
	const char *name;
	const char *const *programs, *const *login, *const *env;
};

extern const char *const default_env[];
extern const char *const default_tools[];
extern const struct default_agent default_agents[]; /* ends in a row without a name */

#endif
