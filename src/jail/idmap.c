#include "jail/idmap.h"

#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "jail/mount.h"
#include "jail/userns.h"
#include "sys/fd.h"
#include "sys/linux.h"

static int write_map(pid_t pid, const char *name, unsigned id)
{
	char path[64], text[48];
	auto_fd fd = -1;

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	snprintf(text, sizeof(text), "0 %u 1\n", id);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	return fd < 0 ? -1 : write_full(fd, text, strlen(text));
}

/* A user namespace in which 0 is the inside's uid. It exists as long as the descriptor. */
static int mapping(const struct jail *j)
{
	char path[64];
	int gate[2], fd = -1, status;
	pid_t pid;
	char byte;

	if (pipe2(gate, O_CLOEXEC) < 0)
		return -1;
	pid = userns_fork(CLONE_NEWUSER);
	if (!pid) {
		close(gate[1]);
		_exit(read_full(gate[0], &byte, 1) < 0);
	}
	close(gate[0]);
	snprintf(path, sizeof(path), "/proc/%d/ns/user", (int)pid);
	if (pid > 0 && !write_map(pid, "uid_map", j->uid) && !write_map(pid, "gid_map", j->gid))
		fd = open(path, O_RDONLY | O_CLOEXEC);
	close(gate[1]);
	if (pid > 0)
		waitpid(pid, &status, 0);
	return fd;
}

/* Without what is mounted beneath: an overlay does not show it. */
static int mapped_clone(const char *path, int userns)
{
	struct mount_attr a = {
		.attr_set = MOUNT_ATTR_IDMAP, .propagation = MS_PRIVATE, .userns_fd = (uint64_t)userns
	};
	auto_fd fd = mount_clone_plain(path, false);

	if (fd < 0 || mount_setattr(fd, "", AT_EMPTY_PATH, &a, sizeof(a)) < 0)
		return -1;
	return fd_steal(&fd);
}

static bool needs_map(const struct jail_row *r)
{
	return r->kind == JAIL_CACHE && r->source;
}

int *idmap_caches(const struct jail *j)
{
	auto_fd userns = -1;
	int *ret = NULL;

	for (size_t i = 0; j->from_root && i < j->nrows && userns < 0; i++)
		if (needs_map(&j->rows[i])) {
			userns = mapping(j);
			if (userns < 0)
				return NULL;
		}
	if (userns < 0)
		return NULL;
	ret = xcalloc(j->nrows, sizeof(*ret));
	for (size_t i = 0; i < j->nrows; i++)
		ret[i] = needs_map(&j->rows[i]) ? mapped_clone(j->rows[i].source, userns) : -1;
	return ret;
}
