/* Removes from an agent's messages the places that an editor would open by itself. They are paths of the inside: only those
 * in the workspace stay, without pipes, and without links that lead out of it. */
#ifndef ACP_SHOWN_H
#define ACP_SHOWN_H

#include <jansson.h>

#include "acp/paths.h"

/* The params of session/update and session/request_permission, in both versions: locations and diffs of other files, and
 * icons that the editor would fetch. A diff of another file becomes a text that names the file. */
void shown_clean(const struct paths *p, json_t *params);

#endif
