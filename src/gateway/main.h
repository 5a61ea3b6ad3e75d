/*
 * The gateway's process: a child of the keeper, which forks it when somebody speaks to one of the task's two
 * sockets, or when one of its other jobs is due. Never two at a time.
 *
 * It speaks with the keeper over one SEQPACKET socket (jail/order.h): START and SIGNAL go to the keeper, which
 * passes them on to the jail, and the answers come back. A process that serves is told of further jobs on the
 * same socket (ORDER_JOB). It ends when that socket is closed, or on SIGTERM, when it is done with what it has
 * at hand.
 */
#ifndef GATEWAY_MAIN_H
#define GATEWAY_MAIN_H

#include "task/run.h"

enum gateway_job {
	GATEWAY_SERVE,  /* answer on both sockets until nobody has spoken for `linger` seconds */
	GATEWAY_CLOSE,  /* the main command has ended: publish its drafts */
	GATEWAY_RENEW,  /* refs outside have moved: show their new values inside. By message too */
	GATEWAY_SYNC,   /* time to see whether the task can follow its target. By message too */
	GATEWAY_LEAVE,  /* by message: no command runs inside, linger no more */
	GATEWAY_FINISH, /* by message: end */
};

struct gateway_spec {
	enum gateway_job job;
	const char *task;           /* its name */
	const struct task_run *run; /* with GATEWAY_CLOSE: the main command's */
	int agent;                  /* a listening socket, which the inside sees */
	int user;                   /* a listening socket for the user's own commands */
	int keeper;                 /* SEQPACKET, see above */
	unsigned linger;
};

/* Returns when the job is done. SIGPIPE is ignored by the caller. */
void gateway_main(const struct gateway_spec *s);

#endif
