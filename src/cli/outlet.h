/*
 * One of the user's own output descriptors, written without ever blocking and without making it non-blocking:
 * it is shared with other processes (the shell, the rest of a pipeline) that would see the flag.
 */
#ifndef CLI_OUTLET_H
#define CLI_OUTLET_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

struct outlet {
	int fd;   /* what is written to */
	bool own; /* a descriptor opened anew, non-blocking */
	bool socket;
	size_t most;  /* bytes to write at once */
	bool dead;    /* nobody reads any more, or it cannot be written */
	struct buf q; /* what waits, from `at` on */
	size_t at;
};

void outlet_open(struct outlet *o, int fd);
void outlet_release(struct outlet *o);
size_t outlet_waiting(const struct outlet *o);
/* Takes the bytes; drops them where the outlet is dead. */
void outlet_add(struct outlet *o, const char *data, size_t len);
/* Writes what can be written now. When poll said that there is room, at least some can. */
void outlet_flush(struct outlet *o);

#endif
