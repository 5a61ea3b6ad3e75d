/*
 * A task's log: the last log_max bytes of the main command's output. It is two files in the task's directory,
 * `log` and the older `log.1`; when `log` reaches half of the limit, it is renamed to `log.1`.
 *
 *	log_open(&l, dir, max)      appends to what an earlier run left
 *	log_write(&l, data, len)    any number of times
 *	log_close(&l)
 *
 * A log that cannot be written, because the disk is full, does not stop the task: lost bytes are counted, and
 * the number is written to the log when that is possible again. log_reader.h reads it.
 */
#ifndef KEEPER_LOG_H
#define KEEPER_LOG_H

#include <stddef.h>
#include <stdint.h>

#define LOG_NEW "log"
#define LOG_OLD "log.1"

struct log {
	int dir; /* the caller closes it */
	int fd;
	uint64_t max, size, lost;
};

/* If max is 0, nothing is kept. */
void log_open(struct log *l, int dir, uint64_t max);
void log_write(struct log *l, const void *data, size_t len);
void log_close(struct log *l);

#endif
