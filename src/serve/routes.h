/*
 * The API's paths, and the command that answers each:
 *
 *	/api/v1/tasks              garth ls --json
 *	/api/v1/tasks/NAME         garth show --json NAME                ?project=PROJECT
 *	/api/v1/tasks/NAME/diff    garth diff --json NAME                ?project=PROJECT
 *	/api/v1/tasks/NAME/mcp     garth mcp --http NAME                 ?project=PROJECT; POST, see routes_is_mcp
 *	/api/v1/audit              garth audit --json -n LINES [NAME]    ?task=NAME, ?project=PROJECT, ?lines=N
 *
 * Names and numbers are checked before they become arguments of a command. PROJECT is a project's name or
 * path, with %XX for other characters; without it, NAME must be in one project only.
 */
#ifndef SERVE_ROUTES_H
#define SERVE_ROUTES_H

#include "base/strvec.h"
#include "serve/access.h"

#define ROUTES_LINES     1000u /* lines of the audit log by default */
#define ROUTES_LINES_MAX 10000u

/* Whether the path is that of MCP. Its command gets the request on stdin, and answers with status and body
 * (mcp_files/files.h). */
bool routes_is_mcp(const char *path);
/* path and query (may be NULL) are as they arrived, not decoded. Appends the command's arguments, without
 * "garth". -1 with *why: 404 for an unknown path, 400 for a bad name or number. */
int routes_find(const char *path, const char *query, struct strvec *ret, struct denial *why);

#endif
