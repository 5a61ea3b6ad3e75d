/* Parses agents' configuration files, JSON or YAML, into one kind of tree. */
#ifndef AGENT_SETTINGS_H
#define AGENT_SETTINGS_H

#include <jansson.h>
#include <stdbool.h>

#include "base/buf.h"

/* JSON, with or without comments, is recognized by content, YAML by the file's name. NULL if it is
 * neither. */
json_t *settings_parse(const char *path, const struct buf *text);
/* The variables of a file of lines "NAME=VALUE". */
json_t *settings_variables(const struct buf *text);
bool path_ends_in(const char *path, const char *end);

#endif
