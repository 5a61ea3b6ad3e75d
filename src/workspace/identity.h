/*
 * Which Garth home this is. A home that was copied (`cp -r`) has the original's tasks in its store, and so
 * the names of the original's branches, refs and worktrees: it must not change any of them.
 *
 * $GARTH_HOME/identity has two lines, a random id and the place that the home was last used at. Where the
 * home is now at another place, and that place still has a home with the id, this is a copy. Where it has
 * none, the home was moved, and the file follows. Numbers of devices and inodes are not relied on: they
 * change.
 */
#ifndef WORKSPACE_IDENTITY_H
#define WORKSPACE_IDENTITY_H

#include <stdbool.h>

#include "workspace/home.h"

#define IDENTITY_FILE "identity"

/* For home_open. Sets h->copy_of where the home is a copy, and h->unnamed where it was made by an earlier
 * version and has no identity yet. On a full disk, or a read-only one, nothing is written. */
void identity_look(struct home *h);
/* Gives an unnamed home its identity. `made_at` is where its store says that it was made, NULL where it does
 * not say: if the same home is still there, this one is a copy of it. */
void identity_settle(struct home *h, const char *made_at);
/* ERR_REFUSED where the home is a copy. Whoever is about to change a repository asks: commands when they
 * begin, and those who take the locks that such changes need. */
int identity_refuse_copy(const struct home *h, struct err *e);

#endif
