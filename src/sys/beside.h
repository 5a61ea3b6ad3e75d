/* Work that is done in a process of its own while the caller does something else. */
#ifndef SYS_BESIDE_H
#define SYS_BESIDE_H

#include <sys/types.h>

#include "base/err.h"

struct beside {
	pid_t pid; /* 0: none runs */
	int said;  /* a pipe that its error comes through, or -1 */
};

#define BESIDE_INIT                                                                                          \
	{                                                                                                    \
		.pid = 0, .said = -1                                                                         \
	}

/* Begins fn, which sees the caller's memory as it is now and can change nothing of it. */
int beside_start(struct beside *b, int (*fn)(void *arg, struct err *e), void *arg, struct err *e);
/* Waits for its end: 0, or -1 with the error that fn set. */
int beside_wait(struct beside *b, struct err *e);
/* Waits where nobody has. */
void beside_release(struct beside *b);
#define auto_beside __attribute__((cleanup(beside_release))) struct beside

#endif
