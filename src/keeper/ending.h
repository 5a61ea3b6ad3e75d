/*
 * Ends a run, in its own process: scanning a workspace and pushing can take minutes, and the keeper has to
 * answer its clients meanwhile. The process decides what the run's result is, pushes if the task file says
 * so, writes to the store, and returns the exit code.
 */
#ifndef KEEPER_ENDING_H
#define KEEPER_ENDING_H

#include <stdbool.h>
#include <sys/types.h>

struct keeper;

struct ending {
	pid_t pid;      /* 0: none runs */
	int fd;         /* the process writes the exit code here */
	unsigned tries; /* how often it was started */
};

/* Starts the process. False: it is over. Either no process could be forked and the keeper did the work
 * itself, or the process was killed several times; then the store is unchanged, and the next command finds
 * the task interrupted. */
bool ending_start(struct keeper *k);
/* The user does not want to wait for the push: kills the process. If it had not written to the store, the
 * next ending_start does, as for a cancelled run. */
void ending_cancel(struct keeper *k);
/* Called when its process has ended. True: it was done, and k->exit_code is the run's exit code. */
bool ending_done(struct keeper *k);

#endif
