/* Starting one command inside. */
#ifndef LAUNCH_SPAWN_H
#define LAUNCH_SPAWN_H

#include <sys/types.h>

#include "base/err.h"
#include "jail/order.h"

/* Starts the command in a session of its own, on stdio or, where it wants one, on a new terminal, whose
 * master goes to *ret_master (else -1). On failure e->sys is the errno of what could not be done. */
int spawn_command(
	const struct order_cmd *c, const int stdio[3], pid_t *ret_pid, int *ret_master, struct err *e);

#endif
