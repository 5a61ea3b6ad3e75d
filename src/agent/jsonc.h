/* Parses JSON with comments and trailing commas. */
#ifndef AGENT_JSONC_H
#define AGENT_JSONC_H

#include <jansson.h>
#include <stddef.h>

/* Returns NULL if the text is not JSON even so. */
json_t *jsonc_parse(const char *text, size_t len);

#endif
