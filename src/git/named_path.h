/*
 * Judges paths that a repository itself names: files that its configuration includes, stores that it borrows objects from,
 * links in its git directory. Such a path must lead to the same file for every program and at every time, or what was
 * checked is not what git reads. Two kinds do not: /proc/self/cwd and the like are different for each process, and agents
 * write to files in the Garth home, and where the user lets them.
 */
#ifndef GIT_NAMED_PATH_H
#define GIT_NAMED_PATH_H

#include "base/err.h"

/* Once, before anything else: the Garth home, without links. */
void named_path_set_home(const char *home);
/* And each directory that the user's configuration lets agents write in. */
void named_path_add_writable(const char *path);

/* ERR_REFUSED if an absolute path, or a link on its way, leads into /proc, the Garth home or a directory of jail.allow_write. What is not there may be
 * there later, so that is followed as far as it goes. `what` begins the message: "'X' borrows objects from". */
int named_path_check(const char *path, const char *what, struct err *e);

#endif
