/*
 * Finds uncommitted work in the user's checkout: changed, added, removed and new files, without ignored ones.
 * Submodules are left out. The checkout and its index are not changed, and no filter, hook or monitor of the user runs.
 */
#ifndef GIT_UNCOMMITTED_H
#define GIT_UNCOMMITTED_H

#include "base/err.h"
#include "base/strvec.h"
#include "git/repo.h"

/* Lists the paths in the checkout around dir. A directory of new files is one path. uncommitted_find writes git's
 * answer to `file` and is limited to some seconds; uncommitted_read reads the paths from it. r is the repository, with its
 * settings, or NULL. */
int uncommitted_find(const char *dir, const struct repo *r, int file, struct err *e);
int uncommitted_read(int file, struct strvec *ret, struct err *e);
/* Writes all of it to `file` as one patch against HEAD, for `git apply`. `index` is a path for a temporary
 * index, which the caller removes. Objects that the patch needs are written to the repository. What is at or below one of
 * the absolute paths `never` is left out. */
int uncommitted_patch(
	const char *dir, const char *index, const struct strvec *never, int file, struct err *e);

#endif
