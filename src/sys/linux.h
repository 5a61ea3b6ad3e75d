/*
 * Linux system calls that the C library may not have. glibc has them all. The small programs are built with
 * musl (src/meson.build), which does not. Names and meaning are those of glibc.
 */
#ifndef SYS_LINUX_H
#define SYS_LINUX_H

#include <fcntl.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* linux/fcntl.h, which defines it, cannot be included together with fcntl.h. */
#ifndef AT_RECURSIVE
#define AT_RECURSIVE 0x8000
#endif

#ifndef __GLIBC__
#include <linux/fs.h>
#include <linux/mount.h>
/* newer versions of musl have statx */
#ifndef STATX_TYPE
#include <linux/stat.h>

static inline int statx(int dir, const char *path, int flags, unsigned mask, struct statx *ret)
{
	return (int)syscall(SYS_statx, dir, path, flags, mask, ret);
}
#endif
#ifndef STATX_ATTR_MOUNT_ROOT
#define STATX_ATTR_MOUNT_ROOT 0x00002000
#endif

static inline int fsopen(const char *type, unsigned flags)
{
	return (int)syscall(SYS_fsopen, type, flags);
}

static inline int fsconfig(int fd, unsigned cmd, const char *key, const void *value, int aux)
{
	return (int)syscall(SYS_fsconfig, fd, cmd, key, value, aux);
}

static inline int fsmount(int fd, unsigned flags, unsigned attributes)
{
	return (int)syscall(SYS_fsmount, fd, flags, attributes);
}

static inline int open_tree(int dir, const char *path, unsigned flags)
{
	return (int)syscall(SYS_open_tree, dir, path, flags);
}

static inline int move_mount(int from_dir, const char *from, int to_dir, const char *to, unsigned flags)
{
	return (int)syscall(SYS_move_mount, from_dir, from, to_dir, to, flags);
}

static inline int mount_setattr(int dir, const char *path, unsigned flags, struct mount_attr *a, size_t size)
{
	return (int)syscall(SYS_mount_setattr, dir, path, flags, a, size);
}

static inline int renameat2(int from_dir, const char *from, int to_dir, const char *to, unsigned flags)
{
	return (int)syscall(SYS_renameat2, from_dir, from, to_dir, to, flags);
}

static inline int close_range(unsigned first, unsigned last, int flags)
{
	return (int)syscall(SYS_close_range, first, last, flags);
}
#endif

#endif
