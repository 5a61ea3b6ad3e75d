/*
 * Where the repository around a directory is, found as git finds it (a `.git` here or further up, or a bare
 * repository), but without starting git: before anybody knows whose repository it is, nothing of its
 * configuration is looked at.
 */
#ifndef GIT_DISCOVER_H
#define GIT_DISCOVER_H

#include "base/err.h"

struct discovered {
	char *top;     /* the directory that has the .git; for a bare repository the repository itself */
	char *git_dir; /* where that .git is, or leads to */
	char *common;  /* the common git directory: the same, but for worktrees */
};

void discovered_release(struct discovered *d);
#define auto_discovered __attribute__((cleanup(discovered_release))) struct discovered

/* All paths are real ones. ERR_NOTFOUND where there is none. */
int discover(const char *dir, struct discovered *ret, struct err *e);

#endif
