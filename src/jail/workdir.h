/*
 * Prepares the work directories of the overlay and of the caches for the next mount. garth-launch calls it outside.
 *
 * A volatile mount leaves a mark in the work directory that forbids the next mount, because after a crash of
 * the machine the upper directory may be incomplete. Whoever starts a task has checked that already. Removing
 * the mark and letting overlayfs empty the rest costs more than half a millisecond on a disk. So the used
 * directory is renamed, which costs nothing, and is removed while the jail is being entered.
 */
#ifndef JAIL_WORKDIR_H
#define JAIL_WORKDIR_H

#include "base/err.h"
#include "jail/jail.h"

/* Before the mount: renames what the last one left. */
int workdir_renew(const struct jail *j, struct err *e);
/* After the mount: removes everything that was renamed. If that fails, the next run tries again. */
void workdir_tidy(const struct jail *j);

#endif
