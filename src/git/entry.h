/* What a commit has at a path, read from its trees: no file is opened, no link is followed. */
#ifndef GIT_ENTRY_H
#define GIT_ENTRY_H

#include <stdbool.h>

#include "base/err.h"
#include "base/strvec.h"
#include "git/repo.h"

enum entry_kind {
	ENTRY_NONE,
	ENTRY_FILE, /* executable or not */
	ENTRY_DIRECTORY,
	ENTRY_LINK, /* the path is a symbolic link, or leads through one */
};

/* `path` is relative to the top directory, without ".", ".." and empty components; "" is the top itself. */
int entry_find(
	const struct repo *r, const char *commit, const char *path, enum entry_kind *ret, struct err *e);

/* Which of the paths a commit has, with one question to git for each depth. Paths with a line break count as missing.
 * They are best sorted. */
int entry_are_there(
	const struct repo *r, const char *commit, const struct strvec *paths, bool *ret, struct err *e);

#endif
