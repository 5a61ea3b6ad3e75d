/*
 * Reads a task's log (log.h), also while its keeper writes it.
 *
 *	auto_log_reader r = LOG_READER_INIT;
 *	log_reader_open(&r, dir, e)
 *	log_reader_tail(&r, 20, e)            optional: begin with the last 20 lines
 *	log_reader_read(&r, fn, arg, e)       everything that is there
 *	log_reader_follow(&r, fn, arg, e)     what was added since, any number of times
 *
 * A missing log is an empty one. The bytes are the agent's: clean them (base/clean.h) before printing them on a
 * terminal. If a task writes more than the log keeps between two calls of log_reader_follow, the rest is
 * missing, as it is from the log.
 */
#ifndef KEEPER_LOG_READER_H
#define KEEPER_LOG_READER_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct log_reader {
	int dir;        /* the caller closes it */
	int older, now; /* the files to read, at the place from which to read; -1: none */
};
#define LOG_READER_INIT                                                                                      \
	{                                                                                                    \
		-1, -1, -1                                                                                   \
	}
void log_reader_close(struct log_reader *r);
#define auto_log_reader __attribute__((cleanup(log_reader_close))) struct log_reader

/* Gets the log's bytes, oldest first, in pieces. It can stop the reading with -1 and *e. */
typedef int log_fn(const char *data, size_t len, void *arg, struct err *e);

int log_reader_open(struct log_reader *r, int dir, struct err *e);
/* Skips all but the last lines. Reads from the end, no more than it needs. */
int log_reader_tail(struct log_reader *r, uint64_t lines, struct err *e);
int log_reader_read(struct log_reader *r, log_fn *fn, void *arg, struct err *e);
int log_reader_follow(struct log_reader *r, log_fn *fn, void *arg, struct err *e);

#endif
