/*
 * The end of a run, in a process of its own: to look through a workspace and to push can take minutes, and the
 * keeper answers its clients meanwhile. The process decides what the run came to, pushes if the task's file says
 * so, tells the store, and hands the exit code back.
 */
#ifndef KEEPER_ENDING_H
#define KEEPER_ENDING_H

#include <stdbool.h>
#include <sys/types.h>

struct keeper;

struct ending {
	pid_t pid;      /* 0: none runs */
	int fd;         /* the exit code comes from here */
	unsigned tries; /* how many were started */
};

/* Starts it. False: it is over, because no process could be forked and the keeper did it itself, or because it
 * was killed several times; then the store says what it said before, and the next command finds the task
 * interrupted. */
bool ending_start(struct keeper *k);
/* The user does not want to wait for the push: ends the process. What it had not told the store is told by the
 * next ending_start, as a cancelled run. */
void ending_cancel(struct keeper *k);
/* Its process has ended: whether it was done, and k->exit_code is what it came to. */
bool ending_done(struct keeper *k);

#endif
