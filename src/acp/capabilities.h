/*
 * What the two sides say that they can do (`initialize`). Only capabilities that are known to be harmless are passed on: a
 * capability is a promise to do something if the other side asks for it, and a new version of the protocol may have new
 * ones.
 */
#ifndef ACP_CAPABILITIES_H
#define ACP_CAPABILITIES_H

#include <jansson.h>
#include <stdbool.h>

#include "base/strvec.h"

/* The versions of the protocol. */
#define ACP_VERSION_MAX 2

/* The part of the editor's initialize that an agent gets: a new object, without fs and terminal (they would run outside, in
 * the editor), without logging in on a terminal (the agent names the command), without URLs that the editor opens, and
 * without whatever is not known. */
json_t *capabilities_of_client(const json_t *params);
/* Whether the editor shows notices, for sessions of this version. */
bool capabilities_has_notices(const json_t *params, int version);

/* The part of the agent's answer that the editor gets: a new object. Garth lists and closes sessions itself. Ways to log in
 * are left out if they have a command, a page, or a variable that the agent would not get. NULL, with the reason, if it is
 * not an answer of a known version. */
json_t *capabilities_of_agent(const json_t *result, const struct strvec *passed, char why[160]);
/* Whether the agent can close a session on request. */
bool capabilities_can_close(const json_t *result);

#endif
