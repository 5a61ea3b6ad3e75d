/*
 * What the user's checkout has and no commit: changed, added, removed and new files; ignored ones do not
 * count. Neither the checkout nor its index is touched; no filter, hook or monitor of the user's runs.
 */
#ifndef GIT_PENDING_H
#define GIT_PENDING_H

#include "base/err.h"
#include "base/strvec.h"

/* The paths, in the checkout around dir. A directory of new files is one. Not for longer than some seconds.
 */
int pending_list(const char *dir, struct strvec *ret, struct err *e);
/* All of it as one patch against HEAD, which `git apply` takes, into the file; `index` is a path for a
 * temporary index, which is the caller's to remove. Objects that the patch needs are written. */
int pending_patch(const char *dir, const char *index, int file, struct err *e);

#endif
