/* Requests to the keeper of a running task, over its control socket (keeper/wire.h). All functions block. The
 * caller closes connections. */
#ifndef RUNTIME_CONTROL_H
#define RUNTIME_CONTROL_H

#include <stdint.h>

#include "base/err.h"
#include "keeper/wire.h"
#include "task/context.h"
#include "task/task.h"

/* A connection; ERR_NOTFOUND if no keeper listens. */
int control_connect(const struct context *c, const struct task *t, int *ret_conn, struct err *e);
/* Attaches to the running task's main command. */
int control_attach(
	struct context *c, struct task *t, const struct wire_size *size, int *ret_conn, struct err *e);
/* Opens a port of a running task on the host's loopback. */
int control_port(struct context *c, struct task *t, uint16_t inside, uint16_t *ret, struct err *e);
/* Forwards a port of the host's loopback to a running task. ERR_NOTFOUND if the task does not run. */
int control_forward(struct context *c, struct task *t, uint16_t port, struct err *e);
/* Ends the running task and waits for it. */
int control_cancel(struct context *c, struct task *t, struct err *e);

#endif
