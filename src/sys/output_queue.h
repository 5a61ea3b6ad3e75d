/*
 * Writes to one of the user's output descriptors without blocking. It does not set O_NONBLOCK on it, because
 * other processes (the shell, the rest of a pipeline) share the descriptor's flags.
 */
#ifndef SYS_OUTPUT_QUEUE_H
#define SYS_OUTPUT_QUEUE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

struct output_queue {
	int fd;   /* the descriptor to write to */
	bool own; /* opened again, so it can be non-blocking */
	bool socket;
	size_t most;  /* bytes to write at once */
	bool dead;    /* nobody reads any more, or writing fails */
	struct buf q; /* what waits to be written, from `at` on */
	size_t at;
};

/* At most `max` bytes wait; what does not fit is dropped. */
void output_queue_open(struct output_queue *o, int fd, size_t max);
void output_queue_release(struct output_queue *o);
size_t output_queue_waiting(const struct output_queue *o);
/* Queues the bytes; drops them if the queue is dead. */
void output_queue_add(struct output_queue *o, const char *data, size_t len);
/* Writes what can be written now. After poll has reported the descriptor as writable, at least one byte is
 * written. */
void output_queue_flush(struct output_queue *o);

#endif
