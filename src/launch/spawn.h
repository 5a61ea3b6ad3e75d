/* Starts one command inside the jail. */
#ifndef LAUNCH_SPAWN_H
#define LAUNCH_SPAWN_H

#include <sys/types.h>

#include "base/err.h"
#include "jail/order.h"

/* Sets the limit on open descriptors for commands; 0 leaves it as it is. It is at most half of this process's
 * own limit. Descriptors that a command has sent and nobody received count for all processes of the user, and
 * this process must still be able to send some. */
void spawn_limit_files(uint64_t max);

/* Starts the command in its own session, on stdio or, if it wants one, on a new terminal, whose master goes to
 * *ret_master (else -1). On failure e->sys is the errno of the step that failed. */
int spawn_command(
	const struct order_cmd *c, const int stdio[3], pid_t *ret_pid, int *ret_master, struct err *e);

#endif
