#include "jail/userns.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "jail/enter.h"
#include "sys/fd.h"

uint64_t userns_flags(const struct jail *j)
{
	return CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWCGROUP |
	       (j->net == JAIL_NET_HOST ? 0u : CLONE_NEWNET);
}

pid_t userns_fork(uint64_t flags)
{
	/* CLONE_PARENT: the exit signal is that of the caller itself */
	struct clone_args a = { .flags = flags, .exit_signal = flags & CLONE_PARENT ? 0 : SIGCHLD };

	return (pid_t)syscall(SYS_clone3, &a, sizeof(a));
}

/* AppArmor may allow a namespace but give no capability in it, so this sets a host name, which needs one. */
bool userns_works(void)
{
	static int known = -1;
	int status = 1;
	pid_t pid;

	if (known >= 0)
		return known;
	pid = userns_fork(CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWUTS);
	if (!pid)
		_exit(sethostname("garth", 5) < 0);
	known = pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status) && !WEXITSTATUS(status);
	return known;
}

static int write_proc(pid_t pid, const char *name, const char *text, struct err *e)
{
	char path[64];
	auto_fd fd = -1;

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0 || write_full(fd, text, strlen(text)) < 0)
		return err_sys(e, "cannot write %s of the new user namespace", name);
	return 0;
}

int userns_map(const struct jail *j, pid_t pid, struct err *e)
{
	char uids[48], gids[48];

	snprintf(uids, sizeof(uids), "%u %u 1\n", j->uid, j->uid);
	snprintf(gids, sizeof(gids), "%u %u 1\n", j->gid, j->gid);
	/* An ordinary user may map the group only after giving up setgroups. Root's child has to clear its
	 * groups, and may. */
	if (!j->from_root && write_proc(pid, "setgroups", "deny", e) < 0)
		return -1;
	if (write_proc(pid, "uid_map", uids, e) < 0 || write_proc(pid, "gid_map", gids, e) < 0)
		return -1;
	return 0;
}

/* In the new process: waits for the maps. Ends if the process that should write them has ended. */
static void wait_for_map(int gate)
{
	char go;

	if (read_full(gate, &go, 1) != 1)
		_exit(1);
}

int enter_namespaces(const struct jail *j, int (*born)(pid_t pid), pid_t *ret_pid, struct err *e)
{
	int gate[2];
	pid_t pid;
	int rc;

	if (!j->uid || !j->gid)
		return err_set(e, ERR_START, "nobody may be root inside");
	if (pipe2(gate, O_CLOEXEC) < 0)
		return err_sys(e, "cannot make a pipe");
	pid = userns_fork(userns_flags(j) | CLONE_PARENT);
	if (!pid) {
		close(gate[1]);
		wait_for_map(gate[0]);
		close(gate[0]);
		*ret_pid = 0;
		return 0;
	}
	close(gate[0]);
	rc = pid < 0 ? err_sys(e, "cannot make namespaces") : userns_map(j, pid, e);
	if (!rc && born(pid) < 0)
		rc = err_sys(e, "cannot tell who was born");
	if (!rc && write_full(gate[1], "", 1) < 0)
		rc = err_sys(e, "the first process of the jail died");
	close(gate[1]);
	*ret_pid = pid;
	return rc;
}
