/*
 * What can be asked for, and the command whose answer it is:
 *
 *	/api/v1/tasks              garth ls --json
 *	/api/v1/tasks/NAME         garth show --json NAME
 *	/api/v1/tasks/NAME/diff    garth diff --json NAME
 *	/api/v1/audit              garth audit --json -n LINES [NAME]    ?task=NAME, ?lines=N
 *
 * Names are checked as names of tasks and numbers as numbers before they become words of a command.
 */
#ifndef SERVE_ROUTES_H
#define SERVE_ROUTES_H

#include "base/strvec.h"
#include "serve/door.h"

#define ROUTES_LINES     1000u /* of the audit log, unless another number is asked for, */
#define ROUTES_LINES_MAX 10000u

/* path and query (may be NULL) as they came, undecoded. Appends the command's words, without "garth"; -1 and
 * why: 404 for a path that is not there, 400 for a name or number that is none. */
int routes_find(const char *path, const char *query, struct strvec *ret, struct denial *why);

#endif
