/* Paths that need the user's word before a task's change of them counts (J4, G5). */
#ifndef CONFIG_PROTECT_H
#define CONFIG_PROTECT_H

#include <stdbool.h>

#include "base/strvec.h"
#include "config/config.h"

/* The glob that protects the path, NULL where none does or the user allowed it: in the configuration, or for
 * the task (allowed, may be NULL). A symbolic link is protected as well where a protected path could lie
 * beneath it: ".claude -> elsewhere" makes elsewhere/settings.json what .claude/settings.json was. */
const char *protect_path(
	const struct config_policy *rules, const struct strvec *allowed, const char *path, bool link);

#endif
