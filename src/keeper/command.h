/*
 * One command in the jail: how it is started, sized, signalled and ended.
 */
#ifndef KEEPER_COMMAND_H
#define KEEPER_COMMAND_H

#include <event2/buffer.h>
#include <event2/event.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "jail/order.h"
#include "keeper/modes.h"
#include "keeper/tail.h"
#include "keeper/wire.h"

struct client;
struct keeper;

enum command_state {
	COMMAND_WAITING, /* for the jail */
	COMMAND_ASKED,   /* START was sent */
	COMMAND_RUNNING,
	COMMAND_OVER, /* exit_code is known */
};

struct command {
	struct keeper *k;
	uint32_t id;
	enum command_state state;
	bool tty;
	char *name;           /* argv[0], for the message */
	int order_fd;         /* the packed command, until it is started */
	struct client *owner; /* whose stdin and pace it is; NULL: gone, or a terminal that many share */
	int pending_signal;   /* came before the command ran */
	int exit_code;
	struct wire_size size; /* of the terminal */
	int in_fd;             /* stdin's writing end; with a terminal the same as out_fd[0] */
	int out_fd[2];
	struct event *in_ev, *out_ev[2], *timer;
	struct evbuffer *in; /* what clients that left had typed */
	struct tail tail;    /* of the main command's terminal */
	struct modes modes;
};

struct command *command_new(struct keeper *k, const struct order_cmd *order, struct err *e);
void command_free(struct command *cmd);
struct command *command_by_id(struct keeper *k, uint32_t id);
/* The jail stands: asks for the command. */
void command_begin(struct command *cmd);
/* master is the terminal's, or -1; the command's to close. */
void command_started(struct command *cmd, int master);
/* What the inside says about it, where it does: a claim, which is cleaned. */
void command_not_started(struct command *cmd, int error, const struct err *why);
void command_exited(struct command *cmd, int status);
void command_signal(struct command *cmd, int sig);
void command_attach(struct command *cmd, struct client *c);
/* The client is no longer there; detached where it said so before. */
void command_leave(struct command *cmd, struct client *c, bool detached);
void command_resize(struct command *cmd);
/* All clients get EXIT, and it is freed. */
void command_over(struct command *cmd);

#endif
