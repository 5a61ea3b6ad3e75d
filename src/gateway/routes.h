/*
 * The gateway's API: a table of paths. A handler gets the request's JSON and returns the answer's JSON, or
 * fills a refusal. On the agent's socket:
 *
 *	GET  /api/v1/task          → {"task","branch","base","target","tip","state","policy":{…} …}
 *	POST /api/v1/git/commit    {"message","author"?,"repo"?,"worktree"?} → {"sha","branch"}
 *	POST /api/v1/git/publish   {"tip"?,"pack"?,"submodule"?} → {"tip","old","branch","commits"}
 *	                           submodule: its number, from the file garth-submodule of its repository
 *	POST /api/v1/git/reset     {"args":[…]} → {}; checkout and merge likewise
 *	POST /api/v1/git/push      {"args":[…]} → {"remote","branch","tip","new","output"}
 *	                           if the task file has `push`
 *	POST /api/v1/git/fetch     {"args":[…]} → {"remote","ref","new","output","refs"}
 *	                           if git.fetch allows it
 *	POST /api/v1/question      {"question","options"?} asks the user a question
 *	POST /api/v1/note          {"text"} → {}: of a plan's stage, for the stages after it
 *	POST /api/v1/stage/output  {"name","value"} → {}: the same
 *	POST /api/v1/stage/complete → {"tip","state","text"}: whether what is published passes the stage's checks;
 *	                           state: "passed", "failed", "queued" (ask again), "no_runner"
 *	GET  /api/v1/brief         → {"brief"}: the boundaries of the task, as Markdown
 *	POST /api/v1/snapshot      {"message"?} → {"snapshot","left_out"}; a message has at most 1000 bytes
 *	GET  /api/v1/context       → {"session","worktree":{"main","submodules"},"branch","target","limits" …}
 *	                           for the session in the header Garth-Session or Mcp-Session-Id
 *	POST /mcp                  MCP, answered by a program inside (mcp_http.h), not by this table
 *
 * On the user's socket:
 *
 *	GET  /api/v1/task          as above
 *	POST /user/v1/publish      {"from"?} → {"tip","old_tip","branch","new_commits"}
 *	POST /user/v1/snapshot     {"message"?} → {"snapshot","left_out"}
 *	POST /user/v1/rollback     {"full":true} | {"snapshot":N} | {"file":PATH,"snapshot"?:N}
 *	                           → {"snapshot","tip","left_out","stashed"}; "file_hex" for a path that is not UTF-8
 *	POST /user/v1/sync         {"merge"?:true} → {"base","tip","moved","conflicts":[…]}
 *	POST /user/v1/renamed      → {} when the task's own repository has its branch's new name
 *	POST /user/v1/pause, /user/v1/resume
 *
 * reset, checkout and merge are checked and recorded here; git inside carries them out.
 */
#ifndef GATEWAY_ROUTES_H
#define GATEWAY_ROUTES_H

#include <jansson.h>
#include <stdbool.h>

#include "base/err.h"
#include "gateway/gateway.h"
#include "publish/refusal.h"

/* Answers a request and returns the HTTP status. *ret is the answer's JSON, also for an error; the caller
 * frees it. */
struct route_ask {
	bool user;
	const char *method, *path;
	const char *session; /* of a header; NULL: none */
	const char *body;
	size_t len;
};
int route(struct gateway *g, const struct route_ask *a, json_t **ret);
/* Records a request that is not valid HTTP; the server itself answers it. */
void route_malformed(struct gateway *g, int status);

#endif
