#include "jail/probe.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "jail/landlock.h"
#include "jail/mount.h"
#include "jail/seccomp.h"
#include "jail/steps.h"
#include "jail/userns.h"
#include "sys/fd.h"
#include "sys/owner.h"

/* errno of each attempt, 0 if it works. */
struct tried {
	int userns, mounts, overlay, proc, net, seccomp;
};

static int error_of(int rc)
{
	return rc < 0 ? (errno ? errno : EIO) : 0;
}

static int try_mounts(void)
{
	auto_fd fs = -1, clone = mount_clone(AT_FDCWD, "/usr");

	if (clone < 0 || mount_limit(clone, MOUNT_RO) < 0)
		return -1;
	fs = mount_new("tmpfs", NULL, 0, MOUNT_NODEV);
	return fs < 0 ? -1 : mount_attach(fs, AT_FDCWD, "/tmp");
}

/* Uses the tmpfs that try_mounts left on /tmp. */
static int try_overlay(void)
{
	if (chdir("/tmp") < 0 || mkdir("l", 0755) < 0 || mkdir("u", 0755) < 0 || mkdir("w", 0755) < 0 ||
		mkdir("m", 0755) < 0)
		return -1;
	return mount("overlay", "m", "overlay", MS_NODEV | MS_NOSUID,
		"userxattr,volatile,lowerdir=l,upperdir=u,workdir=w");
}

static int try_proc(void)
{
	auto_fd fd = mount_new("proc", NULL, 0, MOUNT_NODEV | MOUNT_NOEXEC);

	return fd < 0 ? -1 : 0;
}

static int try_loopback(void)
{
	struct ifreq lo = { .ifr_name = "lo", .ifr_flags = IFF_UP };
	auto_fd fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	return fd < 0 ? -1 : ioctl(fd, SIOCSIFFLAGS, &lo);
}

static int try_seccomp(void)
{
	struct err e;

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ? -1 : seccomp_enter(&e);
}

/* Runs in new namespaces: tries everything and answers through the pipe. AppArmor allows the namespace but
 * gives no capability in it, so it also tries to set a host name, which needs one. */
static void __attribute__((noreturn)) inside(const struct jail *j, int gate, int answer)
{
	struct entering in = { .j = j };
	struct tried t = { 0 };
	struct err e;
	char go;

	if (read_full(gate, &go, 1) != 1)
		_exit(1);
	t.userns = error_of(rights_become(&in, &e) < 0 ? -1 : sethostname("probe", 5));
	t.mounts = error_of(try_mounts());
	t.overlay = t.mounts ? t.mounts : error_of(try_overlay());
	t.proc = error_of(try_proc());
	t.net = error_of(try_loopback());
	t.seccomp = error_of(try_seccomp());
	_exit(write_full(answer, &t, sizeof(t)) < 0);
}

static void pair_close(int pair[2])
{
	fd_closep(&pair[0]);
	fd_closep(&pair[1]);
}

/* If a namespace cannot be made, everything fails with that error. */
static void try_all(const struct jail *j, struct tried *t)
{
	int gate[2] = { -1, -1 }, answer[2] = { -1, -1 };
	struct err e = ERR_INIT;
	pid_t pid = -1;

	*t = (struct tried){ EPERM, EPERM, EPERM, EPERM, EPERM, EPERM };
	if (pipe2(gate, O_CLOEXEC) < 0 || pipe2(answer, O_CLOEXEC) < 0 ||
		(pid = userns_fork(userns_flags(j))) < 0) {
		int sys = errno;

		*t = (struct tried){ sys, sys, sys, sys, sys, sys };
		pair_close(gate);
		pair_close(answer);
		return;
	}
	if (!pid) {
		close(gate[1]);
		inside(j, gate[0], answer[1]);
	}
	fd_closep(&answer[1]);
	answer[1] = -1;
	if (userns_map(j, pid, &e) < 0)
		*t = (struct tried){ e.sys, e.sys, e.sys, e.sys, e.sys, e.sys };
	else if (write_full(gate[1], "", 1) == 0)
		(void)!read_full(answer[0], t, sizeof(*t));
	pair_close(gate);
	pair_close(answer);
	waitpid(pid, NULL, 0);
}

static long number_in(const char *path, long missing)
{
	auto_buf text = BUF_INIT(64);
	struct err e;

	return read_file(AT_FDCWD, path, &text, &e) < 0 ? missing : strtol(buf_str(&text), NULL, 10);
}

static struct probe_row *add(struct probe *p, const char *name, const char *purpose, bool required, int error)
{
	struct probe_row *r = &p->rows[p->n++];

	*r = (struct probe_row){ .name = name, .purpose = purpose, .required = required, .ok = !error };
	snprintf(r->found, sizeof(r->found), "%s", error ? strerror(error) : "yes");
	return r;
}

static void add_userns(struct probe *p, int error)
{
	struct probe_facts f = {
		.userns_errno = error,
		.max_user_namespaces = number_in("/proc/sys/user/max_user_namespaces", -1),
		.unprivileged_userns_clone = (int)number_in("/proc/sys/kernel/unprivileged_userns_clone", -1),
		.apparmor_restrict =
			(int)number_in("/proc/sys/kernel/apparmor_restrict_unprivileged_userns", -1),
		.seccomp_blocked = error == EPERM || error == EACCES,
	};

	/* neither of these two applies to root */
	if (owner_is_other())
		f.unprivileged_userns_clone = f.apparmor_restrict = -1;
	probe_userns_advice(&f, add(p, "user namespaces", "everything", true, error));
}

static void add_landlock(struct probe *p)
{
	int abi = landlock_abi();
	struct probe_row *r = add(p, "landlock", "a second wall around files", true, abi ? 0 : ENOSYS);

	if (abi)
		snprintf(r->found, sizeof(r->found), "ABI %d", abi);
	else
		snprintf(r->enable, sizeof(r->enable),
			"add landlock to the lsm= list on the kernel's command line");
	r = add(p, "landlock scopes", "network 'host'", false, landlock_scopes(abi) ? 0 : ENOSYS);
	snprintf(r->found, sizeof(r->found),
		landlock_scopes(abi) ? "ABI %d" : "ABI %d, 6 is needed (Linux 6.12)", abi);
}

void probe_kernel(struct probe *p)
{
	struct owner o = owner_inside();
	struct jail j = { .uid = o.uid, .gid = o.gid, .from_root = owner_is_other(), .net = JAIL_NET_NONE };
	auto_fd here = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	auto_fd beneath = open_beneath(here, "", O_PATH | O_DIRECTORY, 0);
	struct tried t, host_net;

	*p = (struct probe){ 0 };
	try_all(&j, &t);
	if (t.userns) {
		/* perhaps only the network namespace is missing */
		j.net = JAIL_NET_HOST;
		try_all(&j, &host_net);
		if (!host_net.userns) {
			host_net.net = t.userns;
			t = host_net;
		}
	}
	add_userns(p, t.userns);
	add(p, "mount API", "everything (Linux 5.12)", true, t.mounts);
	add(p, "openat2", "everything (Linux 5.6)", true, beneath < 0 ? ENOSYS : 0);
	add(p, "overlay", "overlay workspaces (Linux 5.11)", false, t.overlay);
	probe_proc_advice(t.proc, add(p, "own /proc", "seeing only the task's processes", true, t.proc));
	add(p, "network namespaces", "network 'none'", false, t.net);
	add_landlock(p);
	add(p, "seccomp", "the system-call filter", true, t.seccomp);
}

bool probe_has(const struct probe *p, const char *name)
{
	for (int i = 0; i < p->n; i++)
		if (!strcmp(p->rows[i].name, name))
			return p->rows[i].ok;
	return false;
}
