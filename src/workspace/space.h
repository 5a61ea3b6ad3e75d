/* Room on the disk, asked for before it is taken (T7). */
#ifndef WORKSPACE_SPACE_H
#define WORKSPACE_SPACE_H

#include "base/err.h"
#include "git/repo.h"
#include "workspace/home.h"

/* Whether all files of the commit find room beside the Garth home; ERR_FAILED tells how much is missing.
 * Where there is plenty, nothing is counted. */
int space_check(const struct home *h, const struct repo *r, const char *commit, struct err *e);
/* The same for a workspace that costs next to nothing. */
int space_check_little(const struct home *h, struct err *e);

#endif
