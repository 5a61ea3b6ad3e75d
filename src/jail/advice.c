#include <errno.h>

#include "jail/probe.h"

#define DOCKER "docker run --security-opt seccomp=unconfined --security-opt systempaths=unconfined ..."

static void say(struct probe_row *row, const char *found, const char *enable)
{
	row->ok = false;
	snprintf(row->found, sizeof(row->found), "%s", found);
	snprintf(row->enable, sizeof(row->enable), "%s", enable);
}

void probe_userns_advice(const struct probe_facts *f, struct probe_row *row)
{
	row->ok = !f->userns_errno;
	row->enable[0] = '\0';
	if (row->ok)
		snprintf(row->found, sizeof(row->found), "yes");
	else if (f->unprivileged_userns_clone == 0)
		say(row, "switched off by kernel.unprivileged_userns_clone",
			"sudo sysctl -w kernel.unprivileged_userns_clone=1");
	else if (f->max_user_namespaces == 0)
		say(row, "switched off by user.max_user_namespaces",
			"sudo sysctl -w user.max_user_namespaces=15000");
	else if (f->apparmor_restrict > 0)
		say(row, "restricted by AppArmor (kernel.apparmor_restrict_unprivileged_userns)",
			"sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0");
	else if (f->userns_errno == ENOSPC || f->userns_errno == EUSERS)
		say(row, "the limit of user.max_user_namespaces is reached",
			"sudo sysctl -w user.max_user_namespaces=15000");
	else if (f->userns_errno == ENOSYS || f->userns_errno == EINVAL)
		say(row, "this kernel is built without user namespaces", "");
	else if (f->seccomp_blocked)
		say(row, "not permitted here, as in most containers and in a chroot", DOCKER);
	else
		say(row, strerror(f->userns_errno), "");
}

void probe_proc_advice(int error, struct probe_row *row)
{
	row->ok = !error;
	row->enable[0] = '\0';
	if (row->ok)
		snprintf(row->found, sizeof(row->found), "yes");
	else if (error == EPERM)
		say(row, "the outer /proc is partly covered, as in most containers", DOCKER);
	else
		say(row, strerror(error), "");
}
