/*
 * One client's connection to the keeper: reads its frames (wire.h) and sends it frames. Nothing here blocks:
 * what the client does not read yet is buffered.
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
	struct command *cmd; /* the command whose streams it gets */
	uint32_t waits;      /* the id of the LISTEN that it waits for; 0: none */
	uint32_t told;       /* a bit for each refused host (proxies.h) that it was told of */
	struct wire_size size;
	struct evbuffer *in; /* STDIN that the command has not read yet */
	bool in_end, cancels, closing, muted[2];
	bool whole; /* it owns or owned a command's pipes: it gets every byte, however long that takes */
};

struct client *client_new(struct keeper *k, int fd);
void client_free(struct client *c);
void client_send(struct client *c, enum wire_type type, const void *data, size_t len);
void client_exit(struct client *c, int code);
void client_fail(struct client *c, const struct err *e);
/* Bytes that the client has not read yet. */
size_t client_behind(const struct client *c);

#endif
