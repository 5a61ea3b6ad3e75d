#include "limits/usage.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "jail/userns.h"
#include "sys/fd.h"
#include "workspace/scan.h"

/* `place` may be an O_PATH descriptor. */
static int walk(int place, struct tree_use *ret, struct err *e)
{
	auto_fd root = openat(place, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (root >= 0)
		return tree_use(root, ret, e);
	*ret = (struct tree_use){ .closed = 1 };
	return errno == EACCES ? 0 : err_sys(e, "cannot open a directory of the task");
}

/* In the child: waits until its user namespace is mapped, measures, and sends the result. */
static void measure_as_owner(int place, int go, int result)
{
	struct err ignored = ERR_INIT;
	struct tree_use u;
	char byte;

	if (read_full(go, &byte, 1) == 1 && !walk(place, &u, &ignored))
		write_full(result, &u, sizeof(u));
	_exit(0);
}

static void measure_in_child(int place, struct tree_use *ret)
{
	const struct jail own = { .uid = geteuid(), .gid = getegid() };
	struct err ignored = ERR_INIT;
	int go[2], result[2];
	struct tree_use u;
	pid_t pid;

	if (pipe2(go, O_CLOEXEC) < 0)
		return;
	if (pipe2(result, O_CLOEXEC) < 0) {
		close(go[0]), close(go[1]);
		return;
	}
	pid = userns_fork(CLONE_NEWUSER);
	if (!pid) {
		close(go[1]);
		measure_as_owner(place, go[0], result[1]);
	}
	close(go[0]);
	close(result[1]);
	if (pid > 0 && !userns_map(&own, pid, &ignored))
		write_full(go[1], "", 1);
	close(go[1]);
	if (pid > 0 && read_full(result[0], &u, sizeof(u)) == (ssize_t)sizeof(u))
		*ret = u;
	close(result[0]);
	if (pid > 0)
		waitpid(pid, NULL, 0);
}

/* Adds the inode's own blocks: a directory does not shrink when its entries are removed. */
static void add_itself(const struct stat *st, struct tree_use *ret)
{
	ret->bytes += TREE_INODE + (uint64_t)st->st_blocks * 512;
	ret->inodes++;
}

static int add_one(int dir, const char *name, struct tree_use *ret)
{
	struct stat st;

	if (!lstat_beneath(dir, name, &st))
		add_itself(&st, ret);
	return 0;
}

int usage_add(int dir, const char *name, struct tree_use *ret, struct err *e)
{
	auto_fd place = open_beneath(dir, name, O_PATH | O_DIRECTORY, 0);
	struct tree_use u;
	struct stat st;

	/* a file, or replaced by a link meanwhile: nothing is below it */
	if (place < 0 && (errno == ENOTDIR || errno == ELOOP))
		return add_one(dir, name, ret);
	if (place < 0)
		return errno == ENOENT ? 0 : err_sys(e, "cannot open '%s'", name);
	if (walk(place, &u, e) < 0)
		return -1;
	if (u.closed && geteuid())
		measure_in_child(place, &u);
	if (!fstat(place, &st))
		add_itself(&st, ret);
	ret->bytes += u.bytes;
	ret->inodes += u.inodes;
	ret->closed += u.closed;
	return 0;
}

/* Adds what the task has added to a worktree, which is outside its own directory. */
static int add_elsewhere(struct task_at *at, struct tree_use *u, struct err *e)
{
	auto_changes c = { .root = -1 };
	struct stat root;

	if (workspace_scan(&at->ws, &c, e) < 0)
		return -1;
	if (!fstat(c.root, &root))
		add_itself(&root, u);
	u->inodes += c.dirs;
	u->bytes += c.dirs * TREE_INODE + c.dir_bytes;
	for (size_t i = 0; i < c.n; i++) {
		bool whole = c.v[i].kind == CHANGE_CLOSED || c.v[i].kind == CHANGE_REPO;
		struct tree_use one = { 0 };

		if (c.v[i].kind == CHANGE_GONE)
			continue;
		if (whole && usage_add(c.root, c.v[i].path, &one, e) < 0)
			return -1;
		if (!whole)
			add_one(c.root, c.v[i].path, &one);
		u->bytes += one.bytes;
		u->closed += one.closed;
		/* a changed file of the base is not an additional one */
		u->inodes += one.inodes - (c.v[i].tracked && one.inodes);
	}
	return 0;
}

int usage_of_task(struct task_at *at, struct tree_use *ret, struct err *e)
{
	static const char *const places[] = { "git", "home", "tmp", "upper", "caches", "snapshots", "sub" };
	struct tree_use u = { 0 };

	for (size_t i = 0; i < ARRAY_SIZE(places); i++)
		if (usage_add(at->ws.dir, places[i], &u, e) < 0)
			return -1;
	if (faccessat(at->ws.dir, "upper", F_OK, AT_SYMLINK_NOFOLLOW) < 0 && add_elsewhere(at, &u, e) < 0)
		return -1;
	*ret = u;
	return 0;
}
