/* Takes out of what an agent says the places that an editor would open by itself: they are paths of the inside, and only
 * those of the workspace may be followed, unless they are links that lead out of it, or pipes. */
#ifndef ACP_SHOWN_H
#define ACP_SHOWN_H

#include <jansson.h>

#include "acp/paths.h"

/* The params of session/update and session/request_permission, in both versions: locations and diffs of other files, and
 * icons that the editor would fetch. A diff becomes a text that names the file. */
void shown_clean(const struct paths *p, json_t *params);

#endif
