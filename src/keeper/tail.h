/*
 * Keeps the last output of a terminal for clients that attach later.
 */
#ifndef KEEPER_TAIL_H
#define KEEPER_TAIL_H

#include <stddef.h>

#define TAIL_SIZE (32u << 10)

struct client;

struct tail {
	char *data; /* TAIL_SIZE bytes, allocated at the first use */
	size_t len, at;
};

void tail_add(struct tail *t, const char *data, size_t len);
/* Sends what is kept. If older output was lost, it begins at the start of a line. */
void tail_send(const struct tail *t, struct client *c);

#endif
