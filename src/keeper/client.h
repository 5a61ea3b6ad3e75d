/*
 * One connection to the keeper, and its frames (wire.h).
 */
#ifndef KEEPER_CLIENT_H
#define KEEPER_CLIENT_H

#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "keeper/wire.h"

struct command;
struct keeper;

struct client {
	struct keeper *k;
	struct bufferevent *bev;
	struct command *cmd; /* whose streams it gets */
	uint32_t waits;      /* the number of the LISTEN that it asked for; 0: none */
	struct wire_size size;
	struct evbuffer *in; /* STDIN that the command did not take yet */
	bool in_end, cancels, closing, muted[2];
	bool whole; /* owns or owned a command's pipes: gets every byte, whatever it takes */
};

struct client *client_new(struct keeper *k, int fd);
void client_free(struct client *c);
void client_send(struct client *c, enum wire_type type, const void *data, size_t len);
void client_exit(struct client *c, int code);
void client_fail(struct client *c, const struct err *e);
/* Bytes that the client did not take yet. */
size_t client_behind(const struct client *c);

#endif
