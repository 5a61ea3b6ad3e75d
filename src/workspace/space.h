/* Checks for free disk space before it is used (T7). */
#ifndef WORKSPACE_SPACE_H
#define WORKSPACE_SPACE_H

#include "base/err.h"
#include "git/repo.h"
#include "workspace/home.h"

/* Whether the disk of the Garth home has space for all files of the commit; ERR_FAILED says how much is
 * missing. If a lot of space is free, the files are not counted. */
int space_check(const struct home *h, const struct repo *r, const char *commit, struct err *e);
/* The same for a workspace that needs almost no space. */
int space_check_little(const struct home *h, struct err *e);

/* Keeps a small part of the disk reserved, so that a task which fills the disk can still be stopped and
 * discarded. space_reserve makes the reserve if there is space; space_use_reserve gives it up, and is for
 * commands that are about to free space. */
void space_reserve(const struct home *h);
void space_use_reserve(const struct home *h);

#endif
