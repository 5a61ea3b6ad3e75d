/*
 * The gateway's process: a child of the keeper. The keeper forks it when somebody connects to one of the
 * task's two sockets, or when another job is due. There is never more than one.
 *
 * It talks to the keeper over one SEQPACKET socket (jail/order.h): the keeper passes START and SIGNAL on to
 * the jail and returns the answers. A process that serves gets further jobs on the same socket (ORDER_JOB).
 * It ends when that socket is closed, or on SIGTERM; it finishes the current request first.
 */
#ifndef GATEWAY_MAIN_H
#define GATEWAY_MAIN_H

#include "task/run.h"

enum gateway_job {
	GATEWAY_SERVE,  /* answer on both sockets until nobody has connected for `linger` seconds */
	GATEWAY_CLOSE,  /* the main command has ended: publish its drafts */
	GATEWAY_RENEW,  /* refs outside have moved: show their new values inside. Also by message */
	GATEWAY_SYNC,   /* check whether the task can follow its target. Also by message */
	GATEWAY_LEAVE,  /* by message: no command runs inside any more, end without lingering */
	GATEWAY_FINISH, /* by message: end */
};

struct gateway_spec {
	enum gateway_job job;
	int64_t task;               /* its id */
	const struct task_run *run; /* with GATEWAY_CLOSE: the main command's */
	int agent;                  /* a listening socket, visible inside */
	int user;                   /* a listening socket for the user's commands */
	int keeper;                 /* SEQPACKET, see above */
	unsigned linger;
};

/* Returns when the job is done. The caller ignores SIGPIPE. */
void gateway_main(const struct gateway_spec *s);

#endif
