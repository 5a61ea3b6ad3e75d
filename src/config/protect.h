/* Finds out whether a path needs the user's consent before a task may publish a change of it (J4, G5, T10). */
#ifndef CONFIG_PROTECT_H
#define CONFIG_PROTECT_H

#include <stdbool.h>

#include "base/strvec.h"
#include "config/config.h"

/* Returns the glob that protects the path. NULL if none does, or if the user allowed the path in the
 * configuration or for this task (allowed, may be NULL). A symbolic link is also protected if a protected
 * path could be below it: after ".claude -> elsewhere", elsewhere/settings.json acts as
 * .claude/settings.json. What a task may not write (jail.deny_write, deny_read) is protected too. */
const char *protect_path(
	const struct config_policy *rules, const struct strvec *allowed, const char *path, bool link);
/* The same for a path in a submodule, whose own path is `within`. Both names count, since a submodule is a project
 * of its own; the user allows the whole path. */
const char *protect_path_within(const struct config_policy *rules, const struct strvec *allowed,
	const char *within, const char *path, bool link);

/* Whether a change of the path is within what the task is for: policy.scope. A path that the user allowed for this
 * task is; without a scope, every path is. Case counts. `within` is the path of the submodule, "" for none. */
bool protect_in_scope(const struct config_policy *rules, const struct strvec *allowed, const char *within,
	const char *path);

#endif
