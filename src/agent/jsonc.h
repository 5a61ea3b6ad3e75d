/* JSON as people write it by hand: with comments and a comma too many. */
#ifndef AGENT_JSONC_H
#define AGENT_JSONC_H

#include <jansson.h>
#include <stddef.h>

/* NULL where it is not that either. */
json_t *jsonc_parse(const char *text, size_t len);

#endif
