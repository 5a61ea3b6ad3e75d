/*
 * The values of a configuration and their origins, made from the rows that read them (config/values.h).
 */
#ifndef CLI_CONFIG_VALUES_H
#define CLI_CONFIG_VALUES_H

#include <jansson.h>

#include "config/config.h"

/*
 * An array of {"key", "value", "origin", "unset"}, in the order of the rows. A key of an agent is
 * "agents.NAME.env". origin is "built-in" or "FILE:LINE:COLUMN"; for a list an array of those, one for each item;
 * for git.operations an object. unset: a file that has this value could not be read, so it must be left out.
 */
json_t *config_values(const struct config *c);
/* The same as a tree: {"limits": {"max_files": 500}}. */
json_t *config_tree(const json_t *values);

#endif
