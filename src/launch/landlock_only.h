/*
 * A jail on Landlock alone: the process that stays outside of it. It is the parent of all that is inside, in
 * the end (subreaper), stands in for the calls that Landlock cannot judge, gives terminals, and ends
 * everything when the keeper goes or says so (SIGTERM).
 */
#ifndef LAUNCH_LANDLOCK_ONLY_H
#define LAUNCH_LANDLOCK_ONLY_H

#include "jail/jail.h"

/* Forks: the new process enters the jail and serves on `orders`; this one stands in and does not return.
 * born(pid) as in enter_namespaces. gift makes what comes with READY. */
void landlock_only_run(const struct jail *j, int orders, int (*born)(pid_t pid),
	int (*gift)(const struct jail *j)) __attribute__((noreturn));

/* Inside: the terminal's two sides, from outside. -1 and errno. */
int landlock_only_terminal(int *ret_master, int *ret_slave);
/* Whether this is a jail on Landlock alone. */
bool landlock_only_is(void);

#endif
