/*
 * Recognizes a Garth home that is a copy of another one (`cp -r`). A copy has the original's tasks in its
 * store, and so the names of the original's branches, refs and worktrees: it must not change any of them.
 *
 * $GARTH_HOME/identity has two lines: a random id, and the path at which the home was last used. If the home
 * is at another path now and a home with the same id is still at the old path, this one is a copy. If not,
 * the home was moved, and the file is updated. Device and inode numbers are not used: they can change.
 */
#ifndef WORKSPACE_IDENTITY_H
#define WORKSPACE_IDENTITY_H

#include <stdbool.h>

#include "workspace/home.h"

#define IDENTITY_FILE "identity"

/* For home_open. Sets h->copy_of if the home is a copy, and h->unnamed if an earlier version made it and it
 * has no identity yet. Writes nothing if the disk is full or read-only. */
void identity_look(struct home *h);
/* Gives an unnamed home its identity. `made_at` is the path at which its store says it was made, or NULL. If
 * the same home is still at that path, this one is a copy of it. */
void identity_settle(struct home *h, const char *made_at);
/* ERR_REFUSED if the home is a copy. To be called before a repository is changed: by commands when they
 * start, and by functions that take the locks for such changes. */
int identity_refuse_copy(const struct home *h, struct err *e);

#endif
