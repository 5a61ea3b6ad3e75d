/*
 * The rows of the second filter, for Landlock-only jails. Their processes have the same uid as the user's
 * others and see the host's files. These rows cover what Landlock does not restrict and namespaces would
 * have. Calls that are handed over are judged and carried out by the supervisor (supervisor.h).
 *
 * Having a descriptor proves little. open with the access mode 3 returns one for any file that the user could
 * write, because Landlock counts it as neither reading nor writing; and O_RDONLY returns one for every
 * readable file. So the calls that change a file through such a descriptor are here too, like those by path.
 */
#include "seccomp-gen.h"

#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>

#define SOCKET_TYPE(t)                                                                                       \
	{                                                                                                    \
		1, SCMP_CMP_MASKED_EQ, 0xf, t                                                                \
	}
/* btrfs ioctls by type and number, which are in the low half. */
#define BTRFS(nr)                                                                                            \
	{                                                                                                    \
		1, SCMP_CMP_MASKED_EQ, 0xffff, 0x9400 | nr                                                   \
	}
/* ioctls by type: those that read data from the caller, and those that declare no direction. */
#define WRITING(type)                                                                                        \
	{                                                                                                    \
		1, SCMP_CMP_MASKED_EQ, 0x4000ff00, 0x40000000 | type << 8                                    \
	}
#define SILENT(type)                                                                                         \
	{                                                                                                    \
		1, SCMP_CMP_MASKED_EQ, 0xc000ff00, type << 8                                                 \
	}
/* Compares more bits than an int or a pid has: a value with garbage in the upper bits is refused too. */
#define NOT_OWN(arg)                                                                                         \
	{                                                                                                    \
		arg, SCMP_CMP_NE, 0                                                                          \
	}
#define IOPRIO_WHO_USER 3

/* clang-format off */
const struct rule landlock_only_rules[] = {
	/* The supervisor connects unix sockets. Datagrams could be sent to a path without connect. */
	{ "connect", -1, HAND_OVER, 0, { { 0 } } },
	/* An abstract name has no permissions: a process that binds a well-known one receives what the user's
	 * programs send there. */
	{ "bind", -1, HAND_OVER, 0, { { 0 } } },
	{ "socket", -1, EPERM, 2, { IS(0, AF_UNIX), SOCKET_TYPE(SOCK_DGRAM) } },
	{ "socket", -1, EPERM, 2, { IS(0, AF_UNIX), SOCKET_TYPE(SOCK_RAW) } },
	{ "socketpair", -1, EPERM, 2, { IS(0, AF_UNIX), SOCKET_TYPE(SOCK_DGRAM) } },
	{ "socketpair", -1, EPERM, 2, { IS(0, AF_UNIX), SOCKET_TYPE(SOCK_RAW) } },

	/* With the access mode 3, Landlock allows any file or device to be opened for its ioctls. openat2's
	 * flags are in memory; programs that find it missing use the other call. */
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
	{ "utimensat_time64", -1, ENOSYS, 0, { { 0 } } }, /* libc falls back to the other one */

	/* Owners and attributes: there is nothing to change that would be worth a decision. */
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
	/* the file systems' own ioctls ('f', 'X') except for those that only read: SETFLAGS, SETVERSION,
	 * MIGRATE … */
	{ "ioctl", -1, ENOTTY, 1, { WRITING('f') } },
	{ "ioctl", -1, ENOTTY, 1, { SILENT('f') } },
	{ "ioctl", -1, ENOTTY, 1, { WRITING('X') } },
	{ "ioctl", -1, ENOTTY, 1, { SILENT('X') } },
	/* creating, removing and changing subvolumes and snapshots through a directory that is open for
	 * reading */
	{ "ioctl", -1, ENOTTY, 1, { BTRFS(1) } },
	{ "ioctl", -1, ENOTTY, 1, { BTRFS(14) } },
	{ "ioctl", -1, ENOTTY, 1, { BTRFS(15) } },
	{ "ioctl", -1, ENOTTY, 1, { BTRFS(23) } },
	{ "ioctl", -1, ENOTTY, 1, { BTRFS(24) } },
	{ "ioctl", -1, ENOTTY, 1, { BTRFS(26) } },
	{ "ioctl", -1, ENOTTY, 1, { BTRFS(37) } },
	{ "ioctl", -1, ENOTTY, 1, { BTRFS(63) } },

	/* Pretends success to a process that makes itself undumpable, as key agents do. The process that
	 * counts unlinked files has no more rights than the user, and must be able to inspect all processes
	 * inside. */
	{ "prctl", -1, 0, 2, { IS(0, PR_SET_DUMPABLE), IS(1, 0) } },

	/* The user's System V objects and message queues. */
	NO("shmget"), NO("shmat"), NO("shmctl"), NO("semget"), NO("semop"), NO("semtimedop"),
	NO("semtimedop_time64"), NO("semctl"), NO("msgget"), NO("msgsnd"), NO("msgrcv"), NO("msgctl"),
	NO("mq_open"), NO("mq_unlink"),

	/* The user's other processes. 0 means the caller, but for PRIO_USER it means all of the user's. */
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
