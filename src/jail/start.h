/*
 * Starts a jail from outside: runs garth-launch with the packed description on descriptor 3 and one end of
 * the order socket (order.h) on descriptor 4.
 */
#ifndef JAIL_START_H
#define JAIL_START_H

#include <sys/types.h>

#include "base/err.h"
#include "jail/jail.h"

/* Starts garth-launch. *ret_orders is the keeper's end (SEQPACKET, non-blocking, close-on-exec). *ret_pid is
 * the launch process, which the caller waits for. It ends right after ORDER_BORN. The first process of the
 * jail is the caller's child (CLONE_PARENT) and dies with the caller. */
int jail_start(const struct jail *j, int *ret_orders, pid_t *ret_pid, struct err *e);

#endif
