/*
 * The rows of the second filter, for a jail of Landlock and seccomp alone: its processes are the user's among
 * the user's others, in the host's file view. Here is what Landlock says nothing about and namespaces would
 * have taken care of. What is handed over is carried out, or not, by who stands in (standin.h).
 *
 * A descriptor proves little: open with the access mode 3 gives one of any file that the user could write,
 * which Landlock takes for neither reading nor writing, and an O_RDONLY one of what may be read. The calls
 * that change a file by such a descriptor stand here like those by path.
 */
#include "seccomp-gen.h"

#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>

#define SOCKET_TYPE(t)                                                                                       \
	{                                                                                                    \
		1, SCMP_CMP_MASKED_EQ, 0xf, t                                                                \
	}
/* btrfs': by their type and number, which stand in the low half. */
#define BTRFS(nr)                                                                                            \
	{                                                                                                    \
		1, SCMP_CMP_MASKED_EQ, 0xffff, 0x9400 | nr                                                   \
	}
/* By their type: those that take something from the caller, and those that say nothing of what they do. */
#define WRITING(type)                                                                                        \
	{                                                                                                    \
		1, SCMP_CMP_MASKED_EQ, 0x4000ff00, 0x40000000 | type << 8                                    \
	}
#define SILENT(type)                                                                                         \
	{                                                                                                    \
		1, SCMP_CMP_MASKED_EQ, 0xc000ff00, type << 8                                                 \
	}
/* More than enough for an int or a pid: garbage above it is refused with the rest. */
#define NOT_OWN(arg)                                                                                         \
	{                                                                                                    \
		arg, SCMP_CMP_NE, 0                                                                          \
	}
#define IOPRIO_WHO_USER 3

/* clang-format off */
const struct rule landlock_only_rules[] = {
	/* Unix sockets are connected by who stands in. Datagrams need no connect to be sent to a path. */
	{ "connect", -1, HAND_OVER, 0, { { 0 } } },
	/* An abstract name has no permissions: whoever takes a well-known one gets what the user's programs say
	 * to it. */
	{ "bind", -1, HAND_OVER, 0, { { 0 } } },
	{ "socket", -1, EPERM, 2, { IS(0, AF_UNIX), SOCKET_TYPE(SOCK_DGRAM) } },
	{ "socket", -1, EPERM, 2, { IS(0, AF_UNIX), SOCKET_TYPE(SOCK_RAW) } },
	{ "socketpair", -1, EPERM, 2, { IS(0, AF_UNIX), SOCKET_TYPE(SOCK_DGRAM) } },
	{ "socketpair", -1, EPERM, 2, { IS(0, AF_UNIX), SOCKET_TYPE(SOCK_RAW) } },

	/* The access mode 3, by which Landlock lets any file and device be opened for its ioctls. openat2 has its
	 * flags in memory; who finds it missing takes the other call. */
	{ "open", -1, EACCES, 1, { BITS(1, 3) } },
	{ "openat", -1, EACCES, 1, { BITS(2, 3) } },
	{ "openat2", 437, ENOSYS, 0, { { 0 } } },

	/* modes and times */
	{ "chmod", -1, HAND_OVER, 0, { { 0 } } },
	{ "fchmod", -1, HAND_OVER, 0, { { 0 } } },
	{ "fchmodat", -1, HAND_OVER, 0, { { 0 } } },
	{ "fchmodat2", 452, HAND_OVER, 0, { { 0 } } },
	{ "utime", -1, HAND_OVER, 0, { { 0 } } },
	{ "utimes", -1, HAND_OVER, 0, { { 0 } } },
	{ "futimesat", -1, HAND_OVER, 0, { { 0 } } },
	{ "utimensat", -1, HAND_OVER, 0, { { 0 } } },
	{ "utimensat_time64", -1, ENOSYS, 0, { { 0 } } }, /* libc takes the other one */

	/* Owners and attributes: what there is to change by them is not worth a judgement. */
	NO("chown"), NO("lchown"), NO("fchownat"),
	{ "fchown", -1, HAND_OVER, 0, { { 0 } } },
	{ "setxattr", -1, ENOTSUP, 0, { { 0 } } },
	{ "lsetxattr", -1, ENOTSUP, 0, { { 0 } } },
	{ "fsetxattr", -1, ENOTSUP, 0, { { 0 } } },
	{ "setxattrat", 463, ENOTSUP, 0, { { 0 } } },
	{ "removexattr", -1, ENOTSUP, 0, { { 0 } } },
	{ "lremovexattr", -1, ENOTSUP, 0, { { 0 } } },
	{ "fremovexattr", -1, ENOTSUP, 0, { { 0 } } },
	{ "removexattrat", 466, ENOTSUP, 0, { { 0 } } },
	{ "file_setattr", 469, ENOTSUP, 0, { { 0 } } },
	/* Of file systems' own calls ('f', 'X'), all but those that only tell: SETFLAGS, SETVERSION, MIGRATE … */
	{ "ioctl", -1, ENOTTY, 1, { WRITING('f') } },
	{ "ioctl", -1, ENOTTY, 1, { SILENT('f') } },
	{ "ioctl", -1, ENOTTY, 1, { WRITING('X') } },
	{ "ioctl", -1, ENOTTY, 1, { SILENT('X') } },
	/* subvolumes and snapshots, made, removed and changed by a directory that is open for reading */
	{ "ioctl", -1, ENOTTY, 1, { BTRFS(1) } },
	{ "ioctl", -1, ENOTTY, 1, { BTRFS(14) } },
	{ "ioctl", -1, ENOTTY, 1, { BTRFS(15) } },
	{ "ioctl", -1, ENOTTY, 1, { BTRFS(23) } },
	{ "ioctl", -1, ENOTTY, 1, { BTRFS(24) } },
	{ "ioctl", -1, ENOTTY, 1, { BTRFS(26) } },
	{ "ioctl", -1, ENOTTY, 1, { BTRFS(37) } },
	{ "ioctl", -1, ENOTTY, 1, { BTRFS(63) } },

	/* Who closes its /proc to others, as agents of keys do, believes that it did: what it holds open is counted by
	 * a process that has no right over it but the user's. */
	{ "prctl", -1, 0, 2, { IS(0, PR_SET_DUMPABLE), IS(1, 0) } },

	/* The user's System V objects and message queues. */
	NO("shmget"), NO("shmat"), NO("shmctl"), NO("semget"), NO("semop"), NO("semtimedop"),
	NO("semtimedop_time64"), NO("semctl"), NO("msgget"), NO("msgsnd"), NO("msgrcv"), NO("msgctl"),
	NO("mq_open"), NO("mq_unlink"),

	/* The user's other processes. 0 is the caller, but for whole users it is all of them. */
	{ "setpriority", -1, EPERM, 1, { NOT_OWN(1) } },
	{ "setpriority", -1, EPERM, 1, { IS(0, PRIO_USER) } },
	{ "ioprio_set", -1, EPERM, 1, { NOT_OWN(1) } },
	{ "ioprio_set", -1, EPERM, 1, { IS(0, IOPRIO_WHO_USER) } },
	{ "sched_setaffinity", -1, EPERM, 1, { NOT_OWN(0) } },
	{ "sched_setscheduler", -1, EPERM, 1, { NOT_OWN(0) } },
	{ "sched_setparam", -1, EPERM, 1, { NOT_OWN(0) } },
	{ "sched_setattr", -1, EPERM, 1, { NOT_OWN(0) } },
};
const size_t landlock_only_nrules = COUNT(landlock_only_rules);

const struct rule landlock_only_offline_rules[] = {
	{ "socket", -1, EACCES, 1, { IS(0, AF_INET) } },
	{ "socket", -1, EACCES, 1, { IS(0, AF_INET6) } },
	{ "socket", -1, EACCES, 1, { IS(0, AF_NETLINK) } },
};
const size_t landlock_only_offline_nrules = COUNT(landlock_only_offline_rules);
/* clang-format on */
