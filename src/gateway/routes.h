/*
 * What can be asked of the gateway: a table of paths. Handlers take the request's JSON and give the answer's,
 * or fill a refusal. Those of the agent's socket:
 *
 *	GET  /api/v1/task          → {"task","branch","base","target","tip","state","policy":{…} …}
 *	POST /api/v1/git/commit    {"message","author"?,"repo"?,"worktree"?} → {"sha","branch"}
 *	POST /api/v1/git/publish   {"tip"?} → {"tip","branch","commits"}
 *	POST /api/v1/git/reset     {"args":[…]} → {}; checkout and merge likewise
 *	POST /api/v1/git/push      {"args":[…]} → {"remote","branch","tip","new","output"}, where the task
 * file says so POST /api/v1/git/fetch     {"args":[…]} → {"remote","ref","new","output","refs"}, where
 * git.fetch says so
 *
 * and of the user's alone:
 *
 *	POST /user/v1/publish      as above
 *	POST /user/v1/snapshot     {"message"?} → {"snapshot","left_out"}
 *	POST /user/v1/rollback     {"full":true} | {"snapshot":N} | {"file":PATH,"snapshot"?:N}
 *	                           → {"snapshot","tip","left_out"}; "file_hex" for a path that is not UTF-8
 *	POST /user/v1/sync         {"merge"?:true} → {"base","tip","moved","conflicts":[…]}
 *
 * reset, checkout and merge are checked and recorded here, and carried out inside.
 */
#ifndef GATEWAY_ROUTES_H
#define GATEWAY_ROUTES_H

#include <jansson.h>
#include <stdbool.h>

#include "base/err.h"
#include "gateway/gateway.h"
#include "publish/refusal.h"

/* Answers a request; the HTTP status. *ret is the answer's JSON, an error's too. */
int route(struct gateway *g, bool user, const char *method, const char *path, const char *body, size_t len,
	json_t **ret);
/* What is not even a request: recorded, answered by the server itself. */
void route_malformed(struct gateway *g, int status);

#endif
