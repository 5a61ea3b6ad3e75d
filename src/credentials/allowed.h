/* Decides which requests a service accepts: an allow-list of methods and paths. It keeps a credential from being used for
 * what no agent needs, such as making another credential. */
#ifndef CREDENTIALS_ALLOWED_H
#define CREDENTIALS_ALLOWED_H

#include <stdbool.h>

#include "base/strvec.h"

/* Whether a path has only one meaning: no "..", "." or empty part, no backslash, no escaped slash, dot or control character,
 * and no character that a URL cannot have. After a '?' only the characters are checked. */
bool path_is_plain(const char *path);

/* rows: "POST /v1/messages" is this path, and "GET /v1/models/" also everything below it; "*" is every method. The
 * query is left out of the comparison. A query that makes another method of it is refused. */
bool request_allowed(const struct strvec *rows, const char *method, const char *path);

#endif
