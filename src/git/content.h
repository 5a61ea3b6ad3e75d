/*
 * Refuses commits that tasks do not support: with files that need a filter. It reads the index before any
 * file is checked out, because a filter is a program, and an attribute in the commit can choose it. An attribute
 * whose filter nobody has configured does nothing in git, and is accepted.
 */
#ifndef GIT_CONTENT_H
#define GIT_CONTENT_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/err.h"
#include "git/repo.h"

/* ERR_REFUSED, with the path, for files with a filter other than that of LFS (lfs.h). */
int content_check(const struct repo *r, const char *index, struct err *e);
/* The same for what a commit changes against one that was checked before; raw is from checkout_diff. */
int content_check_diff(const struct repo *r, const struct buf *raw, struct err *e);
/* Whether an attribute names a filter other than that of LFS, configured or not. */
int content_names_filter(const struct repo *r, const char *index, bool *ret, struct err *e);
/* Whether a filter other than that of LFS is configured. Then a commit that was checked before may have to be refused
 * now. */
bool content_has_filters(const struct repo *r);

#endif
