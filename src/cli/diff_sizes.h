/* What git calls binary in a diff is not shown, so its size is said: "Binary files a/x and b/x differ: 12 kB
 * -> 15 kB". */
#ifndef CLI_DIFF_SIZES_H
#define CLI_DIFF_SIZES_H

#include "base/err.h"
#include "git/run.h"

/* Copies a diff from one descriptor (read from its beginning) to another, with the sizes; g has its objects.
 */
int diff_sizes(const struct git *g, int in, int out, struct err *e);

#endif
