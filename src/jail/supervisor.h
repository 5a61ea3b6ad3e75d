/*
 * The supervisor of a Landlock-only jail: a process outside that decides about system calls of the processes
 * inside and carries them out itself (seccomp user notification).
 *
 * The processes of such a jail have the user's uid and see the host's files. Landlock restricts files,
 * signals, ptrace and abstract sockets. It does not restrict connects to a socket's path (docker, the session
 * bus, ssh-agent: a way out), modes, owners, times and attributes, System V objects and message queues, or
 * the priorities of the user's other processes. supervisor_filter closes these gaps. Some calls fail. Others
 * stop their caller until the supervisor has copied the arguments, judged the copy, and carried out the call
 * on what it judged. No call continues in the caller after it was judged: another thread could have changed
 * its arguments by then.
 *
 *	inside, after seccomp_enter and before any command:
 *		supervisor_filter(inet, &listener, e), sock_send(…, &listener, 1), close(listener)
 *	outside, after receiving the listener:
 *		while (!poll-says-over && supervisor_serve(listener, &s) == 0) …
 *
 * No process inside may keep the listener, not even across a fork: whoever has it can answer calls, also its
 * own. Between supervisor_filter and the first answer a process inside must not make the calls below: it
 * would block.
 *
 * The supervisor
 * - is outside the filter and Landlock's domain, and sees the same files and processes;
 * - has the same uid, groups and capabilities as the processes inside, and no more, because the kernel checks
 *   the supervisor's rights when it carries out a call. If root makes a jail for a user, it becomes that user
 *   first;
 * - must be allowed to inspect the callers like a debugger. With Yama (ptrace_scope 1) it must be their
 *   ancestor, also of orphans, so it or a process beneath it is their subreaper. A caller that is not
 *   dumpable is refused (EPERM): the jail's first process after it has hidden itself, or one that was root
 *   and has not called exec since;
 * - serves one jail. Connects block in separate threads, which end with it;
 * - is the process that SO_PEERCRED shows as the one that connected.
 *
 * It carries out: connect, bind; chmod, fchmod, fchmodat, fchmodat2; fchown; utime, utimes, futimesat,
 * utimensat. They fail with ENOSYS after the last copy of the listener is closed.
 *
 * Signals that the caller handles do not interrupt a blocked connect; only signals that kill it do.
 */
#ifndef JAIL_SUPERVISOR_H
#define JAIL_SUPERVISOR_H

#include <stdbool.h>

#include "base/err.h"

/* Paths are canonical and absolute, as in /proc/PID/fd. Lists end with NULL. A writable directory must not
 * contain the host's sockets: so the host's /tmp is too much. */
struct supervisor {
	const char *const *writable; /* directories in which files may be changed and sockets connected to */
	const char *const *sockets;  /* more sockets that may be connected to */
	bool inet;                   /* the network is the host's: inet connects are carried out */
};

/* Filters the calling process permanently, in addition to seccomp_enter's filter. no_new_privs must be set.
 * inet: whether inet sockets may be created at all. The caller sends *ret_listener to the supervisor and
 * closes it. */
int supervisor_filter(bool inet, int *ret_listener, struct err *e);

/* Takes one call from the listener, if there is one, and answers it; does not block. 0, or -1 if no process
 * is left that could make a call. To be called after poll reports POLLIN; POLLHUP means the same as -1. */
int supervisor_serve(int listener, const struct supervisor *s);

#endif
