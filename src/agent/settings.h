/* Files of agents as trees, whatever they are written in. */
#ifndef AGENT_SETTINGS_H
#define AGENT_SETTINGS_H

#include <jansson.h>
#include <stdbool.h>

#include "base/buf.h"

/* JSON, with comments too, whatever the file is called; YAML by its name. NULL where it is neither. */
json_t *settings_parse(const char *path, const struct buf *text);
bool path_ends_in(const char *path, const char *end);

#endif
