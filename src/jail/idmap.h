/*
 * Root's caches belong to root, whose uid does not exist inside. garth-launch makes, outside and as root, a
 * clone of each in which root's files belong to the inside's uid (an idmapped mount). The files on disk do not
 * change. Needs Linux 5.19 and a file system that supports it.
 */
#ifndef JAIL_IDMAP_H
#define JAIL_IDMAP_H

#include "jail/jail.h"

/* Returns one descriptor for each row of the jail, to be freed; -1 if the row is no CACHE of the host or cannot be mapped.
 * NULL if there is nothing to map: root does not enter this jail, or it has no caches. */
int *idmap_caches(const struct jail *j);

#endif
