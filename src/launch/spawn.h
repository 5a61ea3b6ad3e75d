/* Starting one command inside. */
#ifndef LAUNCH_SPAWN_H
#define LAUNCH_SPAWN_H

#include <sys/types.h>

#include "base/err.h"
#include "jail/order.h"

/* Starts the command in a session of its own, on stdio or, where it wants one, on a new terminal, whose
 * master goes to *ret_master (else -1). On failure e->sys is the errno of what could not be done. */
/* How many descriptors a command may have, half of what this process may have at most: those that it has sent
 * and nobody took count for all of the user's processes, and this one sends some as well. 0: as it is. */
void spawn_limit_files(uint64_t max);

int spawn_command(
	const struct order_cmd *c, const int stdio[3], pid_t *ret_pid, int *ret_master, struct err *e);

#endif
