/*
 * Checks paths that a repository itself names: files that its configuration includes, stores that it borrows objects from,
 * links in its git directory. Such a path must lead to the same file for every program at every time; otherwise git might
 * read another file than the one that was checked. Two kinds of paths do not: /proc/self/cwd and the like differ for each
 * process, and agents can write in the Garth home and in directories of jail.allow_write.
 */
#ifndef GIT_NAMED_PATH_H
#define GIT_NAMED_PATH_H

#include "base/err.h"

/* Sets the Garth home, without links in its path. Call it once, before anything else. */
void named_path_set_home(const char *home);
/* Adds a directory in which the user's configuration lets agents write. */
void named_path_add_writable(const char *path);

/* ERR_REFUSED if an absolute path, or a link on its way, leads into /proc, the Garth home or a directory of
 * jail.allow_write. A part that does not exist may exist later, so the path is followed as far as possible. `what` begins
 * the message: "'X' borrows objects from". */
int named_path_check(const char *path, const char *what, struct err *e);

/* The path without links, on the heap. NULL if nothing is there, or if there is a link on the way in a directory of
 * jail.allow_write: an agent may have made it. */
char *named_path_real(const char *path);

#endif
