/*
 * Mounts as descriptors: created or cloned detached, limited, then attached at a name in an open directory,
 * so that no path is resolved twice. All functions return -1 and set errno.
 */
#ifndef JAIL_MOUNT_H
#define JAIL_MOUNT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* In addition to nosuid, which every mount here has. */
enum mount_limits { MOUNT_RO = 1, MOUNT_NODEV = 2, MOUNT_NOEXEC = 4 };

struct mount_option {
	const char *key, *value; /* value NULL: a flag */
};

/* A new file system of a type. */
int mount_new(const char *type, const struct mount_option *options, size_t n, unsigned limits);
/* A clone of what is at a path, with everything mounted beneath it. Symbolic links are followed. */
int mount_clone(int dir, const char *path);
/* The same of an absolute path on which there must be no symbolic link: else ELOOP. With `whole`, what is mounted beneath
 * comes with it. */
int mount_clone_plain(const char *path, bool whole);
/* Sets limits on a clone and everything beneath it, and makes it private: it sees no later mounts of the
 * original. */
int mount_limit(int fd, unsigned limits);
/* Makes everything that is mounted in this namespace private. */
int mount_cut_off(void);
/* Makes this one mount read-only, attached or not. */
int mount_readonly(int fd);
/* Attaches a mount at a name in a directory. A symbolic link there is not followed. */
int mount_attach(int fd, int dir, const char *name);
/* Unmounts what is at a path, unless it is in use. A symbolic link is not followed. */
int mount_drop(const char *path);

#endif
