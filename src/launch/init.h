/* The first process of a jail, after it has entered: starts commands for the keeper and reaps everything. */
#ifndef LAUNCH_INIT_H
#define LAUNCH_INIT_H

#include <stdint.h>

#include "base/err.h"
#include "jail/order.h"

/* Sends one message to the keeper; -1 and errno. */
int init_tell(int orders, enum order_type type, uint32_t id, int value, const struct err *e, int fd);
/* Serves until the keeper is gone, then ends this process and with it everything inside. `given` is a
 * descriptor to send with READY, or -1. */
void init_serve(int orders, int given) __attribute__((noreturn));

#endif
