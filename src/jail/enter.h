/* Enters a jail. Only garth-launch calls these: enter_namespaces, then enter_jail in the new process; or
 * enter_landlock_only if there are no namespaces. */
#ifndef JAIL_ENTER_H
#define JAIL_ENTER_H

#include <sys/types.h>

#include "base/err.h"
#include "jail/jail.h"

/* Creates the namespaces with a new process in them. Returns in both processes: *ret_pid is its pid in the
 * caller, and 0 in the new process, whose uid and gid are mapped by then. The new process's parent is the
 * caller's parent. The caller's side calls born(pid) before the new process continues, so that the keeper
 * learns the pid first. If born returns a negative number (and sets errno), or anything else fails, the new
 * process ends. */
int enter_namespaces(const struct jail *j, int (*born)(pid_t pid), pid_t *ret_pid, struct err *e);

/* In the new process: all other steps, in order. After it the process is behind all walls. On failure the
 * error names the step ("cannot enter the jail: mount workspace: …"). Closes all descriptors above `keep`.
 * `mapped` is from idmap_caches, may be NULL. */
int enter_jail(const struct jail *j, const int *mapped, int keep, struct err *e);

/*
 * The same for a Landlock-only jail, in an ordinary new process. *ret_listener is for the supervisor outside
 * (supervisor.h). It and `link` stay open too.
 *
 * Such a jail is weaker than one with namespaces:
 * - a process that knows or guesses the path of a file outside can ask for its name, size and times (stat,
 *   readlink, inotify);
 * - /proc shows the processes outside, their arguments, and the machine's network interfaces;
 * - the processes inside have the user's uid, and the kernel counts them together with the user's others;
 * - the only terminals are those that commands are started on; there is no System V shared memory and there
 *   are no abstract sockets;
 * - the network is the host's or none.
 */
int enter_landlock_only(const struct jail *j, int keep, int link, int *ret_listener, struct err *e);

#endif
