/* Work that is done in a process of its own while the caller does something else. */
#ifndef SYS_WORKER_H
#define SYS_WORKER_H

#include <sys/types.h>

#include "base/err.h"

struct worker {
	pid_t pid; /* 0: none runs */
	int said;  /* a pipe that its error comes through, or -1 */
};

#define BESIDE_INIT                                                                                          \
	{                                                                                                    \
		.pid = 0, .said = -1                                                                         \
	}

/* Begins fn, which sees the caller's memory as it is now and can change nothing of it. */
int worker_start(struct worker *b, int (*fn)(void *arg, struct err *e), void *arg, struct err *e);
/* Waits for its end: 0, or -1 with the error that fn set. */
int worker_wait(struct worker *b, struct err *e);
/* Waits where nobody has. */
void worker_release(struct worker *b);
#define auto_worker __attribute__((cleanup(worker_release))) struct worker

#endif
