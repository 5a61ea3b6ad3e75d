#include "jail/mount.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "sys/fd.h"
#include "sys/linux.h"

static uint64_t attributes(unsigned limits)
{
	return MOUNT_ATTR_NOSUID | (limits & MOUNT_RO ? MOUNT_ATTR_RDONLY : 0u) |
	       (limits & MOUNT_NODEV ? MOUNT_ATTR_NODEV : 0u) |
	       (limits & MOUNT_NOEXEC ? MOUNT_ATTR_NOEXEC : 0u);
}

int mount_new(const char *type, const struct mount_option *options, size_t n, unsigned limits)
{
	auto_fd fs = fsopen(type, FSOPEN_CLOEXEC);

	if (fs < 0)
		return -1;
	for (size_t i = 0; i < n; i++)
		if (fsconfig(fs, options[i].value ? FSCONFIG_SET_STRING : FSCONFIG_SET_FLAG, options[i].key,
			    options[i].value, 0) < 0)
			return -1;
	if (fsconfig(fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0) < 0)
		return -1;
	return fsmount(fs, FSMOUNT_CLOEXEC, (unsigned)attributes(limits));
}

int mount_clone(int dir, const char *path)
{
	return open_tree(
		dir, path, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE | (*path ? 0 : AT_EMPTY_PATH));
}

int mount_clone_plain(const char *path, bool whole)
{
	auto_fd root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	auto_fd fd = root < 0 ? -1 : open_beneath(root, path + strspn(path, "/"), O_PATH, 0);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return -1;
	/* O_PATH opens the last one itself */
	if (S_ISLNK(st.st_mode)) {
		errno = ELOOP;
		return -1;
	}
	return open_tree(fd, "",
		OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_EMPTY_PATH | (whole ? (unsigned)AT_RECURSIVE : 0));
}

int mount_limit(int fd, unsigned limits)
{
	struct mount_attr a = { .attr_set = attributes(limits), .propagation = MS_PRIVATE };

	return mount_setattr(fd, "", AT_EMPTY_PATH | AT_RECURSIVE, &a, sizeof(a));
}

int mount_cut_off(void)
{
	struct mount_attr a = { .propagation = MS_PRIVATE };

	return mount_setattr(AT_FDCWD, "/", AT_RECURSIVE, &a, sizeof(a));
}

int mount_readonly(int fd)
{
	struct mount_attr a = { .attr_set = MOUNT_ATTR_RDONLY };

	return mount_setattr(fd, "", AT_EMPTY_PATH, &a, sizeof(a));
}

int mount_attach(int fd, int dir, const char *name)
{
	return move_mount(fd, "", dir, name, MOVE_MOUNT_F_EMPTY_PATH);
}

int mount_drop(const char *path)
{
	return umount2(path, UMOUNT_NOFOLLOW);
}
