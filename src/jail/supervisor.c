#include "jail/supervisor.h"

#include <errno.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/alloc.h"
#include "jail/seccomp_program.h"
#include "jail/supervisor_parts.h"

/* Newer than some headers. */
#define NR_FCHMODAT2       452
#define WAIT_KILLABLE_RECV (1ul << 5)

/* The handed-over rows of seccomp-landlock-only.c. */
static const struct {
	int nr;
	int (*carry_out)(const struct call *c);
} handlers[] = {
	{ SYS_bind, supervisor_bind },
	{ SYS_connect, supervisor_connect },
	{ SYS_fchmod, supervisor_fchmod },
	{ SYS_fchmodat, supervisor_fchmodat },
	{ NR_FCHMODAT2, supervisor_fchmodat2 },
	{ SYS_fchown, supervisor_fchown },
	{ SYS_utimensat, supervisor_utimensat },
#ifdef SYS_chmod /* only on older architectures */
	{ SYS_chmod, supervisor_chmod },
	{ SYS_utime, supervisor_utime },
	{ SYS_utimes, supervisor_utimes },
	{ SYS_futimesat, supervisor_futimesat },
#endif
};

int supervisor_filter(bool inet, int *ret_listener, struct err *e)
{
	struct sock_fprog program = {
		inet ? seccomp_landlock_only_net_len : seccomp_landlock_only_len,
		(struct sock_filter *)(inet ? seccomp_landlock_only_net : seccomp_landlock_only),
	};
	unsigned long flags = SECCOMP_FILTER_FLAG_NEW_LISTENER;
	/* Without this flag a signal interrupts a call that is being carried out, and the kernel starts it
	 * again. */
	long fd = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags | WAIT_KILLABLE_RECV, &program);

	if (fd < 0 && errno == EINVAL)
		fd = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program);
	if (fd < 0)
		return err_sys(e, "cannot load the filter of a jail without namespaces");
	*ret_listener = (int)fd;
	return 0;
}

void supervisor_answer(int listener, uint64_t id, int error)
{
	struct seccomp_notif_resp r = { .id = id, .error = error };

	while (ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &r) < 0 && errno == EINTR)
		;
}

static int carry_out(const struct call *c)
{
	for (size_t i = 0; i < ARRAY_SIZE(handlers); i++)
		if (handlers[i].nr == c->req->data.nr)
			return handlers[i].carry_out(c);
	return -ENOSYS;
}

int supervisor_serve(int listener, const struct supervisor *s)
{
	struct pollfd p = { listener, POLLIN, 0 };
	struct seccomp_notif req = { 0 };
	struct call c = { listener, &req, s };
	int rc;

	/* RECV would block if there is no call */
	if (poll(&p, 1, 0) < 0)
		return errno == EINTR ? 0 : -1;
	if (!(p.revents & POLLIN))
		return p.revents ? -1 : 0;
	/* ENOENT: the caller was killed meanwhile */
	if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &req) < 0)
		return errno == EINTR || errno == ENOENT ? 0 : -1;
	rc = carry_out(&c);
	if (rc != SUPERVISOR_LATER)
		supervisor_answer(listener, req.id, rc);
	return 0;
}
