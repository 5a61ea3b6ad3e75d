/*
 * Finds uncommitted work in the user's checkout: changed, added, removed and new files, without ignored ones.
 * The checkout and its index are not changed, and no filter, hook or monitor of the user runs.
 */
#ifndef GIT_PENDING_H
#define GIT_PENDING_H

#include "base/err.h"
#include "base/strvec.h"

/* The paths, in the checkout around dir. A directory of new files is one path. Limited to some seconds. */
int pending_list(const char *dir, struct strvec *ret, struct err *e);
/* Writes all of it to `file` as one patch against HEAD, for `git apply`. `index` is a path for a temporary
 * index, which the caller removes. Objects that the patch needs are written to the repository. */
int pending_patch(const char *dir, const char *index, int file, struct err *e);

#endif
