/*
 * What the two sides say of themselves when they begin. Only what is known to be harmless is passed on: a capability is
 * a promise to run something if the other side asks for it, and a new version of the protocol may have others.
 */
#ifndef ACP_CAPABILITIES_H
#define ACP_CAPABILITIES_H

#include <jansson.h>
#include <stdbool.h>

#include "base/strvec.h"

/* The versions of the protocol. */
#define ACP_VERSION_MAX 2

/* What of initialize an agent is told: a new object. Without fs and terminal (they would run outside, in the editor),
 * logging in on a terminal (the agent names the command), URLs that the editor opens, and whatever is not known. */
json_t *capabilities_of_client(const json_t *params);
/* Whether the editor shows notices, for sessions of this version. */
bool capabilities_has_notices(const json_t *params, int version);

/* What of the agent's answer the editor is told: a new object. Garth lists and closes sessions itself. Ways to log in are
 * left out if they have a command, a page, or a variable that is not passed to the agent anyway. NULL with the reason if it is no answer of a known version. */
json_t *capabilities_of_agent(const json_t *result, const struct strvec *passed, char why[160]);
/* Whether the agent closes a session when it is asked. */
bool capabilities_can_close(const json_t *result);

#endif
