/*
 * One command in the jail: starting it, its terminal's size, signals, and its end.
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
	char *name;           /* argv[0], for messages */
	int order_fd;         /* the packed command, until the jail has it */
	struct client *owner; /* gives its stdin and sets its pace; NULL: it left, or a shared terminal */
	int pending_signal;   /* arrived before the command ran */
	int exit_code;
	struct wire_size size; /* of the terminal */
	int in_fd;             /* the writing end of stdin; with a terminal the same as out_fd[0] */
	int out_fd[2];
	struct event *in_ev, *out_ev[2], *timer;
	struct evbuffer *in; /* input of clients that have left */
	struct tail tail;    /* the last output of the main command's terminal */
	struct modes modes;
};

struct command *command_new(struct keeper *k, const struct order_cmd *order, struct err *e);
void command_free(struct command *cmd);
struct command *command_by_id(struct keeper *k, uint32_t id);
/* Asks the jail to start it. Called when the jail is ready. */
void command_begin(struct command *cmd);
/* master is the terminal's master, or -1; the command closes it. */
void command_started(struct command *cmd, int master);
/* `why` is the inside's message, if any: a claim, which is cleaned. */
void command_not_started(struct command *cmd, int error, const struct err *why);
void command_exited(struct command *cmd, int status);
void command_signal(struct command *cmd, int sig);
void command_attach(struct command *cmd, struct client *c);
/* The client is gone. detached: it said so before. */
void command_leave(struct command *cmd, struct client *c, bool detached);
void command_resize(struct command *cmd);
/* Sends EXIT to all of its clients and frees it. */
void command_over(struct command *cmd);

#endif
