/* Which requests a service takes: an allow-list of methods and paths. So a credential cannot be used for things that no
 * agent needs, such as making another credential. */
#ifndef CREDENTIALS_ALLOWED_H
#define CREDENTIALS_ALLOWED_H

#include <stdbool.h>

#include "base/strvec.h"

/* Whether a path has one meaning only: no ".." or "." or empty part, no backslash, no escaped slash or dot, and
 * nothing that a URL cannot have. After a '?', only the characters are checked. */
bool path_is_plain(const char *path);

/* rows: "POST /v1/messages" is this path, and "GET /v1/models/" also everything below it; "*" is every method. The
 * query is left out of the comparison. */
bool request_allowed(const struct strvec *rows, const char *method, const char *path);

#endif
