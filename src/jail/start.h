/*
 * Starting a jail from outside: garth-launch is run with the packed description on descriptor 3 and one end
 * of the order socket (order.h) on descriptor 4.
 */
#ifndef JAIL_START_H
#define JAIL_START_H

#include <sys/types.h>

#include "base/err.h"
#include "jail/jail.h"

/* Starts garth-launch. *ret_orders is the keeper's end (SEQPACKET, non-blocking, close-on-exec). The launch
 * process itself ends at once after ORDER_BORN; the first process of the jail becomes the caller's child by
 * CLONE_PARENT and dies with the caller. *ret_pid is the launch process, to be waited for. */
int jail_start(const struct jail *j, int *ret_orders, pid_t *ret_pid, struct err *e);

#endif
