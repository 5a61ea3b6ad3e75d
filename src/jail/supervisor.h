/*
 * Standing in for the processes of a jail that consists of Landlock and seccomp alone.
 *
 * Its processes have the uid of the user's own, in the host's file view. Landlock keeps files, signals,
 * ptrace and abstract sockets from them, and says nothing about a connect to a socket's path (docker's, the
 * session bus', ssh-agent's: a way out), about modes, owners, times and attributes, System V objects and
 * message queues, and the priorities of the user's other processes. supervisor_filter closes these: some calls
 * fail, others stop their caller until a process outside has judged them on its own copy of the arguments
 * and carried them out itself on what it judged. No call goes on by itself after having been judged: another
 * thread would have changed its arguments by then.
 *
 *	inside, behind seccomp_enter and before any command:
 *		supervisor_filter(inet, &listener, e), sock_send(…, &listener, 1), close(listener)
 *	outside, with the listener received:
 *		while (!poll-says-over && supervisor_serve(listener, &s) == 0) …
 *
 * Inside, nobody may keep the listener, not even for a fork: who has it answers calls, its own too. Between
 * supervisor_filter and the first answer the calls below must not be made, they would wait.
 *
 * Who stands in
 * - is outside of the filter and of Landlock's domain, and sees the same files and processes;
 * - has the uid, the groups and the capabilities of who is inside, and no more: the kernel asks for its
 *   rights where it carries out a call (root, who makes a jail for a user, becomes the user first);
 * - must be allowed to look into the callers as a debugger is. Where Yama is (ptrace_scope 1), it is their
 *   ancestor: of orphans too, so that it or a process beneath it is their subreaper. A caller that is not
 *   dumpable is refused (EPERM), such as the jail's first process after it has hidden itself, and one that
 *   was root and has not executed anything since;
 * - has one process for one jail: connects wait in threads of their own, which end with it;
 * - is named by SO_PEERCRED as the pid of who connected.
 *
 * Carried out: connect; chmod, fchmod, fchmodat, fchmodat2; fchown; utime, utimes, futimesat, utimensat.
 * They fail with ENOSYS once nobody has the listener any more.
 *
 * A connect that waits is not interrupted by signals that the caller handles, only by those that end it.
 */
#ifndef JAIL_SUPERVISOR_H
#define JAIL_SUPERVISOR_H

#include <stdbool.h>

#include "base/err.h"

/* Paths are canonical and absolute, as the kernel shows them in /proc/PID/fd; lists end with NULL. No
 * directory should hold sockets of the host's: what lies in the host's /tmp is more than a task's. */
struct supervisor {
	const char *const *writable; /* directories: modes and times of what is beneath may be changed, and
					sockets beneath be connected to */
	const char *const *sockets;  /* further sockets that may be connected to */
	bool inet;                   /* the network is the host's: connects of inet and inet6 sockets are
					carried out */
};

/* Filters the calling process for good, on top of seccomp_enter's filter. no_new_privs must be set. inet:
 * whether inet sockets may be made at all. *ret_listener is to be handed to who stands in, and closed. */
int supervisor_filter(bool inet, int *ret_listener, struct err *e);

/* Takes one call from the listener, if one is there, and answers it; does not wait for one. 0, or -1 where
 * nobody is left whose calls could come. To be called when poll says POLLIN; POLLHUP means over. */
int supervisor_serve(int listener, const struct supervisor *s);

#endif
