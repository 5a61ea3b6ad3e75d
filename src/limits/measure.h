/*
 * What a task holds on disk, measured now and then while something runs in it (J8), in a process of its own:
 * nothing that an agent asks of the gateway can hold it up.
 *
 * A running task beyond its limit is paused, named, with everything there, until the user has raised the
 * limit or made room. What goes on growing while the task is paused, or while only commands of the user's run
 * in it, is ended. At four fifths of the limit those who watch are told.
 */
#ifndef LIMITS_MEASURE_H
#define LIMITS_MEASURE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"

enum measure_verdict {
	MEASURE_FINE,
	MEASURE_WARN,  /* `why` is worth telling */
	MEASURE_PAUSE, /* the store and the audit log know; what runs is to be stopped */
	MEASURE_END,   /* likewise; what runs is to be killed */
};

struct measure_job {
	const char *task;
	pid_t keeper; /* whose descendants run inside */
	bool late;    /* the last one took too long: what cannot be counted may be anything */
	uint64_t free_bytes, free_files; /* on the disk when the keeper began; 0: not known */
	uint64_t lost_bytes;             /* from the disk since the task was paused */
	/* As of the last time that the task was not paused, in this keeper's life; 0: not known. */
	uint64_t held_bytes, held_files;
};

struct measure_result {
	enum measure_verdict verdict;
	uint64_t bytes, files; /* that it holds */
	uint64_t max_bytes;
	char why[400];
};

int measure(const struct measure_job *j, struct measure_result *ret, struct err *e);

#endif
