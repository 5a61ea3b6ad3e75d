/* Remembers where values come from, for config_origin. */
#ifndef CONFIG_ORIGIN_H
#define CONFIG_ORIGIN_H

#include "config/config.h"
#include "config/values.h"

/* Notes the place of a value, or of one item of it (NULL: the value as a whole). The last note counts. */
void origin_note(const struct source *s, const char *key, const char *item, unsigned line, unsigned column);

#endif
