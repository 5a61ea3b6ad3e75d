#include <errno.h>
#include <grp.h>
#include <linux/capability.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/alloc.h"
#include "jail/steps.h"
#include "sys/descendants.h"

/* Limits for pending signals and timers, and for bytes in message queues: a part of what
 * a user usually has. */
#define SIGNALS_MAX 4096
#define QUEUES_MAX  (128u << 10)

/* Root's child changes from uid 0 here. It keeps its capabilities: 0 is not mapped in this user namespace, so
 * for the kernel this is not a change from root. */
int rights_become(struct entering *in, struct err *e)
{
	const struct jail *j = in->j;

	if (!j->from_root)
		return 0;
	if (setgroups(0, NULL) < 0 || setresgid(j->gid, j->gid, j->gid) < 0 ||
		setresuid(j->uid, j->uid, j->uid) < 0)
		return err_sys(e, "cannot become %u:%u", j->uid, j->gid);
	return 0;
}

static int set_limit(int what, uint64_t value, struct err *e)
{
	struct rlimit old, l = { value, value };

	if (getrlimit(what, &old) < 0)
		return err_sys(e, "cannot read a limit");
	if (l.rlim_max > old.rlim_max)
		l.rlim_cur = l.rlim_max = old.rlim_max;
	return setrlimit(what, &l) < 0 ? err_sys(e, "cannot set a limit") : 0;
}

int rights_limits(struct entering *in, struct err *e)
{
	/* With a limit of 1 byte there is no core file, and the kernel starts no handler outside either; with 0
	 * it would start one. */
	if (set_limit(RLIMIT_CORE, in->j->max_core ? in->j->max_core : 1, e) < 0)
		return -1;
	if (in->j->max_file_size && set_limit(RLIMIT_FSIZE, in->j->max_file_size, e) < 0)
		return -1;
	/* the kernel counts these per user, and all of the user's processes fail when they are used up */
	if (set_limit(RLIMIT_SIGPENDING, SIGNALS_MAX, e) < 0 || set_limit(RLIMIT_MSGQUEUE, QUEUES_MAX, e) < 0)
		return -1;
	/* without a user namespace it counts all of the user's processes, so those that
	 * exist now are added */
	if (in->j->max_procs &&
		set_limit(RLIMIT_NPROC,
			in->j->max_procs + (in->j->landlock_only ? descendants_count_user() : 0), e) < 0)
		return -1;
#ifndef __SANITIZE_ADDRESS__
	/* a sanitized process maps terabytes */
	if (in->j->max_memory && set_limit(RLIMIT_DATA, in->j->max_memory, e) < 0)
		return -1;
#endif
	return 0;
}

int rights_drop(struct entering *in, struct err *e)
{
	struct __user_cap_header_struct head = { _LINUX_CAPABILITY_VERSION_3, 0 };
	struct __user_cap_data_struct none[2] = { 0 };

	(void)in;
	/* drops the bounding set up to the last capability that this kernel knows */
	for (unsigned long cap = 0; cap < 64; cap++)
		if (prctl(PR_CAPBSET_DROP, cap, 0, 0, 0) < 0) {
			if (errno == EINVAL && cap)
				break;
			return err_sys(e, "cannot drop capability %lu", cap);
		}
	if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) < 0 ||
		syscall(SYS_capset, &head, none) < 0)
		return err_sys(e, "cannot drop capabilities");
	return 0;
}

int rights_no_new(struct entering *in, struct err *e)
{
	(void)in;
	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ? err_sys(e, "cannot set no_new_privs") : 0;
}

int rights_hide(struct entering *in, struct err *e)
{
	(void)in;
	return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0 ? err_sys(e, "cannot hide") : 0;
}

int rights_die_with_parent(struct entering *in, struct err *e)
{
	(void)in;
	return prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) < 0 ? err_sys(e, "cannot be bound to the keeper")
							     : 0;
}
