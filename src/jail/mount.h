/*
 * The kernel's mounts as descriptors: made or cloned detached, limited, then attached at a name in an open
 * directory, so that no path is looked up twice. All return -1 and errno.
 */
#ifndef JAIL_MOUNT_H
#define JAIL_MOUNT_H

#include <stddef.h>
#include <stdint.h>

/* Besides nosuid, which every mount here has. */
enum mount_limits { MOUNT_RO = 1, MOUNT_NODEV = 2, MOUNT_NOEXEC = 4 };

struct mount_option {
	const char *key, *value; /* value NULL: a flag */
};

/* A new file system of a type. */
int mount_new(const char *type, const struct mount_option *options, size_t n, unsigned limits);
/* A clone of what is at a path, with everything mounted beneath it; symbolic links are followed. */
int mount_clone(int dir, const char *path);
/* Limits a clone and all beneath it, and cuts its ties to the mounts that it was cloned from. */
int mount_limit(int fd, unsigned limits);
/* The same cut for everything that is mounted in this namespace. */
int mount_cut_off(void);
/* Read-only for this one mount, attached or not. */
int mount_readonly(int fd);
/* At a name in a directory; a symbolic link there is not followed. */
int mount_attach(int fd, int dir, const char *name);
/* Takes away what is mounted at a path, where nobody uses it; a symbolic link is not followed. */
int mount_drop(const char *path);

#endif
