/*
 * The process that stays outside of a Landlock-only jail, the supervisor. It is the parent or the subreaper
 * of everything inside, carries out the calls that Landlock cannot judge (jail/supervisor.h), opens
 * terminals, and ends everything when the keeper ends or sends SIGTERM.
 */
#ifndef LAUNCH_LANDLOCK_ONLY_H
#define LAUNCH_LANDLOCK_ONLY_H

#include "jail/jail.h"

/* Forks. The new process enters the jail and serves on `orders`; this one becomes the supervisor and does not
 * return. born(pid) is as in enter_namespaces. gift opens, inside, the descriptor that is sent with READY. */
void landlock_only_run(const struct jail *j, int orders, int (*born)(pid_t pid),
	int (*gift)(const struct jail *j)) __attribute__((noreturn));

/* Inside: gets both sides of a new terminal from the supervisor. -1 and errno. */
int landlock_only_terminal(int *ret_master, int *ret_slave);
/* Whether this process is in a Landlock-only jail. */
bool landlock_only_is(void);

#endif
