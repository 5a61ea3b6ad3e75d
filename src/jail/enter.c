#include "jail/enter.h"

#include <fcntl.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "jail/landlock.h"
#include "jail/seccomp.h"
#include "jail/supervisor.h"
#include "jail/steps.h"
#include "sys/fd.h"
#include "sys/linux.h"

/* A task may use every port of its own loopback, also those below 1024. If this
 * fails, these stay forbidden. */
static void free_low_ports(void)
{
	auto_fd fd = open("/proc/sys/net/ipv4/ip_unprivileged_port_start", O_WRONLY | O_CLOEXEC);

	if (fd >= 0)
		(void)!write(fd, "0\n", 2);
}

static int loopback_up(struct entering *in, struct err *e)
{
	struct ifreq lo = { .ifr_name = "lo", .ifr_flags = IFF_UP | IFF_RUNNING };
	auto_fd fd = -1;

	if (in->j->net == JAIL_NET_HOST)
		return 0;
	free_low_ports();
	fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	return fd < 0 || ioctl(fd, SIOCSIFFLAGS, &lo) < 0 ? err_sys(e, "cannot bring up lo") : 0;
}

/* The kernel counts a user's inotify instances and watches in each user namespace and in those above it. A
 * task gets a part of the user's limit, so that others find some left. SECURITY.md tells about kernels
 * without this limit. */
static void limit_count(const char *of_user, const char *of_namespace, unsigned part)
{
	auto_buf text = BUF_SMALL;
	struct err ignored = ERR_INIT;
	unsigned long all;
	auto_fd fd = -1;
	char number[24];

	if (read_file(AT_FDCWD, of_user, &text, &ignored) < 0)
		return;
	all = strtoul(buf_str(&text), NULL, 10);
	fd = open(of_namespace, O_WRONLY | O_CLOEXEC);
	snprintf(number, sizeof(number), "%lu\n", all / part ? all / part : 1);
	if (fd >= 0)
		(void)!write(fd, number, strlen(number));
}

static int limit_counts(struct entering *in, struct err *e)
{
	(void)in;
	(void)e;
	limit_count("/proc/sys/fs/inotify/max_user_instances", "/proc/sys/user/max_inotify_instances", 4);
	limit_count("/proc/sys/fs/inotify/max_user_watches", "/proc/sys/user/max_inotify_watches", 2);
	return 0;
}

static int set_hostname(struct entering *in, struct err *e)
{
	const char *name = in->j->hostname;

	return name && sethostname(name, strlen(name)) < 0 ? err_sys(e, "cannot set '%s'", name) : 0;
}

static int restrict_files(struct entering *in, struct err *e)
{
	return landlock_enter(in->j, e);
}

static int filter_calls(struct entering *in, struct err *e)
{
	(void)in;
	return seccomp_enter(e);
}

static const struct step {
	const char *name;
	int (*run)(struct entering *in, struct err *e);
} steps[] = {
	/* First: for root, this process can only reach root's private directories while it is root. */
	{ "open sources", sources_open },
	/* Before anything is created: a process with an unmapped uid cannot create a file. */
	{ "become the user", rights_become },
	/* Everything below is mounted beneath it. After the sources, because it may cover them. */
	{ "new root", root_new },
	/* In the order of the description, so parents come first. /proc can only be mounted while the outer
	 * one is visible. */
	{ "mount", root_rows },
	/* On what the rows mounted. */
	{ "rules", cover_rules },
	/* These three need capabilities over the new namespaces. */
	{ "loopback", loopback_up },
	{ "host name", set_hostname },
	{ "counts", limit_counts },
	/* After this the host's files cannot be reached. */
	{ "pivot", root_pivot },
	/* Nothing has to be created in the root after this. */
	{ "read-only root", root_freeze },
	/* After writing files that these limits would count. */
	{ "limits", rights_limits },
	/* No step after this needs capabilities. */
	{ "drop capabilities", rights_drop },
	/* Landlock and seccomp require it of a process without capabilities. */
	{ "no new privileges", rights_no_new },
	/* Its rules name paths in the new root. It forbids mounts, which are done. */
	{ "landlock", restrict_files },
	/* After every call that it forbids. */
	{ "seccomp", filter_calls },
	/* A change of uid or capabilities would have undone these. */
	{ "hide", rights_hide },
	{ "die with the keeper", rights_die_with_parent },
};

static int filter_landlock_only(struct entering *in, struct err *e)
{
	return supervisor_filter(in->j->net == JAIL_NET_HOST, &in->listener, e);
}

/* Those of the same steps that need no namespace. An ordinary user has no capabilities to drop. */
static const struct step landlock_only_steps[] = {
	{ "limits", rights_limits },
	{ "no new privileges", rights_no_new },
	{ "landlock", restrict_files },
	{ "seccomp", filter_calls },
	/* In addition to the first filter: the supervisor does not get calls that the first one forbids. */
	{ "supervisor", filter_landlock_only },
	{ "hide", rights_hide },
	{ "die with the supervisor", rights_die_with_parent },
};

static int run_steps(const struct step *s, size_t n, struct entering *in, struct err *e)
{
	for (size_t i = 0; i < n; i++)
		if (s[i].run(in, e) < 0) {
			err_wrap(e, "cannot enter the jail: %s", s[i].name);
			e->kind = ERR_START;
			return -1;
		}
	return 0;
}

static void forget(struct entering *in)
{
	for (size_t i = 0; in->sources && i < in->j->nrows; i++)
		buf_release(&in->sources[i].data);
	free(in->sources);
	free(in->holder_path);
	free(in->lowers);
}

int enter_jail(const struct jail *j, const int *mapped, int keep, struct err *e)
{
	struct entering in = { .j = j,
		.mapped = mapped,
		.layers = -1,
		.upper = -1,
		.work = -1,
		.caches = -1,
		.shared = -1,
		.stage = -1,
		.root = -1,
		.holder_fd = -1 };
	mode_t users = umask(022);
	int rc = run_steps(steps, ARRAY_SIZE(steps), &in, e);

	forget(&in);
	/* Also the clones of the overlay's layers, which no process inside may reach through a descriptor. */
	if (!rc && close_range((unsigned)keep + 1, ~0u, 0) < 0)
		rc = err_sys(e, "cannot enter the jail: close descriptors");
	umask(users);
	return rc;
}

int enter_landlock_only(const struct jail *j, int keep, int link, int *ret_listener, struct err *e)
{
	struct entering in = { .j = j, .listener = -1 };

	if (geteuid() != j->uid || getegid() != j->gid)
		return err_set(e, ERR_START,
			"cannot enter the jail: Landlock alone is for the user's own processes");
	if (run_steps(landlock_only_steps, ARRAY_SIZE(landlock_only_steps), &in, e) < 0)
		return -1;
	for (int fd = keep + 1; fd < 64; fd++)
		if (fd != link && fd != in.listener)
			close(fd);
	*ret_listener = in.listener;
	return 0;
}
