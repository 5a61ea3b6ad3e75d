/* Entering: called by garth-launch alone. */
#ifndef JAIL_ENTER_H
#define JAIL_ENTER_H

#include <sys/types.h>

#include "base/err.h"
#include "jail/jail.h"

/* Makes the namespaces: gives the pid of the new first process to the caller, which is outside, and 0 in the
 * new process, whose identity is mapped. The new process' parent is the caller's parent. Between, outside,
 * born(pid) is called before the new process goes on, so that whoever is told hears of the pid first; a
 * negative answer (and errno) makes the new process end, as every failure does. */
int enter_namespaces(const struct jail *j, int (*born)(pid_t pid), pid_t *ret_pid, struct err *e);

/* In the new process: every other step, in order. After it the process is behind all walls. On failure the
 * error names the step ("cannot enter the jail: mount workspace: …"). Descriptors from keep + 1 on are
 * closed. */
int enter_jail(const struct jail *j, int keep, struct err *e);

/* The same for a jail that is alone, in an ordinary new process. *ret_listener is what standin.h wants
 * outside; it and `link` stay open besides.
 *
 * What is weaker than in namespaces: names, sizes and times of files outside can be asked for by who knows or
 * guesses their paths (stat, readlink, inotify); processes, their arguments and the machine's interfaces can
 * be seen in /proc; the processes inside are the user's own and are not counted by themselves; there are no
 * terminals but those that commands are started on, no shared memory of System V, no abstract sockets; the
 * network is the host's or none. */
int enter_landlock_only(const struct jail *j, int keep, int link, int *ret_listener, struct err *e);

#endif
