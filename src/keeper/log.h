/*
 * A task's log: the main command's output as it came, the last log_max bytes of it at most. It is two files
 * in the task's directory, `log` and the older `log.1`; when `log` has half of the limit, it becomes `log.1`.
 *
 *	log_open(&l, dir, max)      appends to what an earlier run left
 *	log_write(&l, data, len)    any number of times
 *	log_close(&l)
 *
 * Keeping a log never stops a task: what cannot be written, because the disk is full, is counted, and the
 * number of lost bytes stands in the log before the next thing that can be.
 */
#ifndef KEEPER_LOG_H
#define KEEPER_LOG_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct log {
	int dir; /* the caller's */
	int fd;
	uint64_t max, size, lost;
};

/* A limit of 0 keeps nothing. */
void log_open(struct log *l, int dir, uint64_t max);
void log_write(struct log *l, const void *data, size_t len);
void log_close(struct log *l);

/* Gives the log's bytes, oldest first, in pieces; fn stops it with -1 and *e. A task without a log has an
 * empty one. The bytes are the agent's: clean them (base/clean.h) before a terminal sees them. */
typedef int log_fn(const char *data, size_t len, void *arg, struct err *e);
int log_read(int dir, log_fn *fn, void *arg, struct err *e);

#endif
