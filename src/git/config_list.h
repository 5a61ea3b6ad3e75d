/*
 * The configuration that git uses in a repository, with the files that it includes. A repository that somebody else made
 * chooses these files. They must be the same for every git that reads them later (named_path.h), and nothing that git
 * would wait for. So they are judged before git is asked to include them.
 */
#ifndef GIT_CONFIG_LIST_H
#define GIT_CONFIG_LIST_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/err.h"

/* Appends "scope\0key\nvalue\0" for each setting, as `git config --list --show-scope -z` does. git_dir may be that of a
 * linked worktree. ERR_REFUSED, with the path, if the repository's own configuration includes what it must not. */
int config_list(const char *git_dir, struct buf *ret, struct err *e);

/* The entry at *at of such a list; value is "" if there is none. *ret_len is the length of the key, which no NUL ends.
 * False at the end. */
bool config_next(const struct buf *list, size_t *at, const char **scope, const char **key, size_t *ret_len,
	const char **value);

/* Whether a scope is the repository's own. */
bool config_is_own(const char *scope);

#endif
