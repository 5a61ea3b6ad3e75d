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

/* A piece of the disk that is kept free, so that a task which fills it can still be stopped and thrown away:
 * made where there is room, given up by who is about to make some. */
void space_reserve(const struct home *h);
void space_use_reserve(const struct home *h);

#endif
