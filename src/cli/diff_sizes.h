/* Adds sizes to the lines about binary files in a diff: "Binary files a/x and b/x differ: 12 kB -> 15 kB". */
#ifndef CLI_DIFF_SIZES_H
#define CLI_DIFF_SIZES_H

#include "base/err.h"
#include "git/run.h"

/* Copies a diff from `in` (from its beginning) to `out` and adds the sizes. g has the objects. Returns 1, and
 * copies nothing, if no size is to be added. */
int diff_sizes(const struct git *g, int in, int out, struct err *e);

#endif
