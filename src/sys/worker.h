/* Runs a function in a child process while the caller does something else: worker_start, then worker_wait. */
#ifndef SYS_WORKER_H
#define SYS_WORKER_H

#include <sys/types.h>

#include "base/err.h"

struct worker {
	pid_t pid; /* 0: no child runs */
	int said;  /* a pipe from which its error is read, or -1 */
};

#define WORKER_INIT                                                                                          \
	{                                                                                                    \
		.pid = 0, .said = -1                                                                         \
	}

/* Starts fn in a child, which has a copy of the caller's memory. */
int worker_start(struct worker *b, int (*fn)(void *arg, struct err *e), void *arg, struct err *e);
/* Waits for the child: 0, or -1 with the error that fn set. */
int worker_wait(struct worker *b, struct err *e);
/* Waits for the child if worker_wait was not called. */
void worker_release(struct worker *b);
#define auto_worker __attribute__((cleanup(worker_release))) struct worker

#endif
