/* Contents of objects, many at a time, from one `git cat-file --batch`. */
#ifndef GIT_BLOB_H
#define GIT_BLOB_H

#include <stddef.h>

#include "base/err.h"
#include "base/strvec.h"
#include "git/run.h"

/* Calls fn with the number of each name (an object's id, or COMMIT:PATH) and its bytes, in order. Names of
 * objects that are not there, or with a line break in them, are passed over. At most 64 MiB in all. */
typedef int blob_fn(size_t i, const char *data, size_t len, void *arg, struct err *e);
int blob_read(const struct git *g, const struct strvec *names, blob_fn *fn, void *arg, struct err *e);

#endif
