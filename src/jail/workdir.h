/*
 * The overlay's work directory, between two mounts; called outside, by garth-launch.
 *
 * A volatile mount leaves a mark in it that forbids the next mount, because after a crash of the machine the
 * upper directory may not be whole; whoever starts a task has decided about that already. Taking the mark
 * away and letting overlayfs empty the rest costs more than half a millisecond on a disk. So the used
 * directory is renamed, which costs nothing, and removed while the jail is being entered.
 */
#ifndef JAIL_WORKDIR_H
#define JAIL_WORKDIR_H

#include "base/err.h"
#include "jail/jail.h"

/* Before the mount: sets aside what the last one left. */
int workdir_renew(const struct jail *j, struct err *e);
/* At leisure: removes all that was set aside. What fails is tried again the next time. */
void workdir_tidy(const struct jail *j);

#endif
