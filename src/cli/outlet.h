/*
 * Writes to one of the user's output descriptors without blocking. It does not set O_NONBLOCK on it, because
 * other processes (the shell, the rest of a pipeline) share the descriptor's flags.
 */
#ifndef CLI_OUTLET_H
#define CLI_OUTLET_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

struct outlet {
	int fd;   /* the descriptor to write to */
	bool own; /* opened again, so it can be non-blocking */
	bool socket;
	size_t most;  /* bytes to write at once */
	bool dead;    /* nobody reads any more, or writing fails */
	struct buf q; /* what waits to be written, from `at` on */
	size_t at;
};

void outlet_open(struct outlet *o, int fd);
void outlet_release(struct outlet *o);
size_t outlet_waiting(const struct outlet *o);
/* Queues the bytes; drops them if the outlet is dead. */
void outlet_add(struct outlet *o, const char *data, size_t len);
/* Writes what can be written now. After poll has reported the descriptor as writable, at least one byte is
 * written. */
void outlet_flush(struct outlet *o);

#endif
