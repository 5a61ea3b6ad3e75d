/*
 * What a commit holds decides whether it can be carried. Asked of its index, before any file is checked out:
 * an attribute may name a filter, which is a program.
 */
#ifndef GIT_CONTENT_H
#define GIT_CONTENT_H

#include "base/buf.h"
#include "base/err.h"
#include "git/repo.h"

/* ERR_REFUSED, with the path, for submodules and for files that go through a filter, as LFS' do. */
int content_check(const struct repo *r, const char *index, struct err *e);
/* The same of what a commit has other than one that was checked before: raw is as from checkout_diff. */
int content_check_diff(const struct repo *r, const struct buf *raw, struct err *e);

#endif
