/* Reads the contents or sizes of many objects with one `git cat-file`. */
#ifndef GIT_BLOB_H
#define GIT_BLOB_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/strvec.h"
#include "git/run.h"

/* Calls fn in order with the index of each name (an object's id, or COMMIT:PATH) and its bytes. Names of
 * missing objects, and names with a line break, are skipped. At most 64 MiB in total. */
typedef int blob_fn(size_t i, const char *data, size_t len, void *arg, struct err *e);
int blob_read(const struct git *g, const struct strvec *names, blob_fn *fn, void *arg, struct err *e);

/* The sizes of objects, in the order of the names; -1 for a missing one, and for a name with a line break. *ret is on the
 * heap. */
int blob_sizes(const struct git *g, const struct strvec *names, int64_t **ret, struct err *e);

#endif
