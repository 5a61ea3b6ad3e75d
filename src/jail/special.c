#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/path.h"
#include "jail/landlock.h"
#include "jail/mount.h"
#include "jail/steps.h"
#include "sys/fd.h"

/* Programs expect these directories to be writable for all, and sticky. */
static const char *tmpfs_mode(const char *target)
{
	const char *name = path_base(target);

	return !strcmp(name, "tmp") || !strcmp(name, "shm") ? "1777" : "0755";
}

static int mount_tmpfs(struct place at, const char *size, const char *mode, unsigned limits)
{
	const struct mount_option o[] = { { "size", size }, { "mode", mode } };
	auto_fd fd = mount_new("tmpfs", o, ARRAY_SIZE(o), limits);

	return fd < 0 ? -1 : mount_attach(fd, at.dir, at.name);
}

int special_tmpfs(struct entering *in, const struct jail_row *r, struct err *e)
{
	struct place at;

	if (place_mount(in, r->target, true, &at, e) < 0)
		return r->flags & JAIL_OPTIONAL ? 0 : -1;
	if (mount_tmpfs(at, r->source, tmpfs_mode(r->target),
		    MOUNT_NODEV | (r->flags & JAIL_NOEXEC ? MOUNT_NOEXEC : 0)) < 0)
		return err_sys(e, "cannot mount %s", r->target);
	return 0;
}

/* Mounts a part of /proc over itself, read-only. The kernel may lack it. */
static int freeze_part(int proc, const char *name)
{
	auto_fd part = mount_clone(proc, name);

	if (part < 0)
		return errno == ENOENT ? 0 : -1;
	if (mount_limit(part, MOUNT_RO | MOUNT_NODEV | MOUNT_NOEXEC) < 0)
		return -1;
	return mount_attach(part, proc, name);
}

/* Uses the outer /proc, which shows the names of the processes outside. Landlock prevents access to their
 * files through it (root, fd, environ), so it is not used without Landlock. All of it is read-only. */
static int outer_proc(struct place at, struct err *e)
{
	auto_fd fd = -1;

	if (!landlock_abi())
		return err_set(e, ERR_START, "the outer /proc cannot be shown without Landlock");
	fd = mount_clone(AT_FDCWD, "/proc");
	if (fd < 0 || mount_limit(fd, MOUNT_RO | MOUNT_NODEV | MOUNT_NOEXEC) < 0 ||
		mount_attach(fd, at.dir, at.name) < 0)
		return err_sys(e, "cannot show the outer /proc");
	return 0;
}

int special_proc(struct entering *in, const struct jail_row *r, struct err *e)
{
	/* parts that check for uid 0 and not for capabilities, or that affect the whole machine */
	static const char *const frozen[] = { "sys", "irq", "bus", "fs", "sysrq-trigger" };
	auto_fd fd = -1, proc = -1;
	struct place at;

	if (place_mount(in, r->target, true, &at, e) < 0)
		return -1;
	fd = mount_new("proc", NULL, 0, MOUNT_NODEV | MOUNT_NOEXEC);
	if (fd < 0 && errno == EPERM) {
		if (in->j->without & JAIL_WALL_PROC)
			return outer_proc(at, e);
		err_set(e, ERR_START,
			"cannot mount a new /proc: the outer /proc is partly covered, as in most containers");
		e->sys = EPERM;
		return -1;
	}
	if (fd < 0 || mount_attach(fd, at.dir, at.name) < 0)
		return err_sys(e, "cannot mount a new /proc");
	proc = open_beneath(at.dir, at.name, O_PATH | O_DIRECTORY, 0);
	for (size_t i = 0; i < ARRAY_SIZE(frozen); i++)
		if (proc < 0 || freeze_part(proc, frozen[i]) < 0)
			return err_sys(e, "cannot make /proc/%s read-only", frozen[i]);
	return 0;
}

static int dev_node(int dev, const char *name, int node)
{
	/* a device on a read-only mount can be written; only the node cannot be changed */
	if (mknodat(dev, name, S_IFREG | 0666, 0) < 0 || mount_limit(node, MOUNT_RO | MOUNT_NOEXEC) < 0)
		return -1;
	return mount_attach(node, dev, name);
}

static int dev_links(int dev)
{
	static const char *const links[][2] = {
		{ "/proc/self/fd", "fd" },
		{ "/proc/self/fd/0", "stdin" },
		{ "/proc/self/fd/1", "stdout" },
		{ "/proc/self/fd/2", "stderr" },
		{ "pts/ptmx", "ptmx" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(links); i++)
		if (symlinkat(links[i][0], dev, links[i][1]) < 0)
			return -1;
	return 0;
}

/* The jail's own terminals: their numbers and masters mean nothing outside. But the kernel counts them for the whole
 * machine, 3072 for all that are not the host's. */
static int dev_pts(int dev)
{
	static const struct mount_option o[] = { { "newinstance", NULL }, { "ptmxmode", "0666" },
		{ "mode", "620" }, { "max", "256" } };
	auto_fd fd = mount_new("devpts", o, ARRAY_SIZE(o), MOUNT_NOEXEC);

	if (fd < 0 || mkdirat(dev, "pts", 0755) < 0)
		return -1;
	return mount_attach(fd, dev, "pts");
}

static int dev_shm(int dev)
{
	if (mkdirat(dev, "shm", 01777) < 0)
		return -1;
	return mount_tmpfs((struct place){ dev, "shm" }, "512m", "1777", MOUNT_NODEV);
}

/* The queues of the jail's own ipc namespace. The kernel may lack them. */
static int dev_mqueue(int dev)
{
	auto_fd fd = mount_new("mqueue", NULL, 0, MOUNT_NODEV | MOUNT_NOEXEC);

	if (fd < 0)
		return errno == ENODEV ? 0 : -1;
	return mkdirat(dev, "mqueue", 01777) < 0 ? -1 : mount_attach(fd, dev, "mqueue");
}

int special_dev(struct entering *in, const struct jail_row *r, struct err *e)
{
	auto_fd dev = -1;
	struct place at;

	if (place_mount(in, r->target, true, &at, e) < 0)
		return -1;
	dev = open_beneath(at.dir, at.name, O_PATH | O_DIRECTORY, 0);
	if (dev < 0)
		return err_sys(e, "cannot open %s", r->target);
	for (size_t i = 0; i < DEV_NODES; i++)
		if (dev_node(dev, dev_nodes[i], in->nodes[i]) < 0)
			return err_sys(e, "cannot mount %s/%s", r->target, dev_nodes[i]);
	if (dev_links(dev) < 0)
		return err_sys(e, "cannot make links in %s", r->target);
	if (dev_pts(dev) < 0)
		return err_sys(e, "cannot mount %s/pts", r->target);
	if (dev_mqueue(dev) < 0)
		return err_sys(e, "cannot mount %s/mqueue", r->target);
	if (dev_shm(dev) < 0)
		return err_sys(e, "cannot mount %s/shm", r->target);
	return 0;
}
