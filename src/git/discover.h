/*
 * Finds the repository around a directory as git does (a `.git` here or in a parent, or a bare repository),
 * but without running git. So nothing of its configuration is used before its owner is known.
 */
#ifndef GIT_DISCOVER_H
#define GIT_DISCOVER_H

#include <stdbool.h>

#include "base/err.h"

struct discovered {
	char *top;     /* the directory with the .git; for a bare repository the repository itself */
	char *git_dir; /* the git directory that this .git is or points to */
	char *common;  /* the common git directory: it differs from git_dir only in a linked worktree */
	bool bare;     /* top is itself a git directory */
};

void discovered_release(struct discovered *d);
#define auto_discovered __attribute__((cleanup(discovered_release))) struct discovered

/* All paths are resolved. ERR_NOTFOUND if there is no repository. ERR_REFUSED for a bare repository beneath
 * another repository's checkout: its files may have come with a commit, so it may be a stranger's. */
int discover(const char *dir, struct discovered *ret, struct err *e);
/* The same for this directory alone, without its parents. False if it is no repository. */
bool discover_at(const char *top, struct discovered *ret);
/* The common git directory of a git directory, on the heap; NULL if it is none. */
char *discover_common(const char *git_dir);

#endif
