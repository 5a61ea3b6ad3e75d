/*
 * Measures how much disk space a task holds, and decides what happens if it is too much (J8). The keeper runs
 * this in a process of its own from time to time, so that nothing an agent asks of the gateway can delay it.
 *
 * A running task beyond its limit is paused. All its files stay, and the user can raise the limit or free
 * space. If it keeps growing while it is paused, or while only the user's own commands run in it, it is
 * ended. At four fifths of the limit, attached clients get a warning.
 */
#ifndef LIMITS_MEASURE_H
#define LIMITS_MEASURE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"

enum measure_verdict {
	MEASURE_FINE,
	MEASURE_WARN,  /* `why` is a warning for attached clients */
	MEASURE_PAUSE, /* recorded in the store and the audit log; the caller stops what runs */
	MEASURE_END,   /* likewise; the caller kills what runs */
};

struct measure_job {
	int64_t task;       /* its id */
	pid_t first;        /* every process of the task descends from it */
	pid_t receivers[2]; /* Garth's own, to whose sockets the task can send; 0: none */
	bool late;          /* the last measurement took too long */
	bool settles;       /* the first since the task was paused: it may have written until the pause */
	uint64_t free_bytes, free_files; /* free on the disk when the keeper started; 0: not known */
	uint64_t lost_bytes;             /* how much the free space has shrunk since the task was paused */
	/* What the task held when this keeper last measured it unpaused, or first after the pause; 0: not known. */
	uint64_t held_bytes, held_files;
};

struct measure_result {
	enum measure_verdict verdict;
	uint64_t bytes, files; /* what it holds now */
	uint64_t max_bytes;
	char why[400];
};

int measure(const struct measure_job *j, struct measure_result *ret, struct err *e);

#endif
