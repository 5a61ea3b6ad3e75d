/*
 * Finds uncommitted work in the user's checkout: changed, added, removed and new files, without ignored ones.
 * Submodules are left out. The checkout and its index are not changed, and no filter, hook or monitor of the user runs.
 */
#ifndef GIT_PENDING_H
#define GIT_PENDING_H

#include "base/err.h"
#include "base/strvec.h"

/* Lists the paths in the checkout around dir. A directory of new files is one path. pending_find writes git's
 * answer to `file` and is limited to some seconds; pending_read reads the paths from it. */
int pending_find(const char *dir, int file, struct err *e);
int pending_read(int file, struct strvec *ret, struct err *e);
/* Writes all of it to `file` as one patch against HEAD, for `git apply`. `index` is a path for a temporary
 * index, which the caller removes. Objects that the patch needs are written to the repository. */
int pending_patch(const char *dir, const char *index, int file, struct err *e);

#endif
