/*
 * Reads a commit's .gitmodules file: which submodule is at which path. The file came with the repository, so it
 * is hostile: it is parsed here, strictly, and never by a git that would obey it. Only `path` is used. URLs are
 * not even kept: nothing is ever fetched.
 */
#ifndef GIT_GITMODULES_H
#define GIT_GITMODULES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/strvec.h"

#define GITMODULES_MAX (1u << 20)

/* Two strings for each submodule: its name, then its path. A section without a path, or whose name or path
 * cannot be trusted, is left out. False if the text is not a file that git would accept as configuration; what
 * comes before the error counts, as it does for git. */
bool gitmodules_parse(const char *text, size_t len, struct strvec *ret);
/* The name for a path, or NULL. If several sections claim the path, the last one, as for git. */
const char *gitmodules_name(const struct strvec *parsed, const char *path);

/* Whether a name or a path from the file can be used beneath a directory: relative, not empty, no "." or ".."
 * or ".git" among its parts, no empty part, no control characters, no backslash, and no "-" in front. */
bool gitmodules_is_safe(const char *path);

#endif
