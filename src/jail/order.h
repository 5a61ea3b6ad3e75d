/*
 * The protocol between the keeper and the first process of a jail, over a SOCK_SEQPACKET socketpair.
 *
 * The first process (pid 1 inside) enters the jail, reports READY or FAILED, and then starts commands for the
 * keeper: each is its child, behind the same walls. It is trusted no more than the commands are. So the
 * keeper checks the ids and ranges in its messages and survives any of them.
 *
 * Each message is one struct order_msg. The keeper sends START (with descriptors: the packed command first,
 * then stdin, stdout and stderr unless the command wants a terminal), SIGNAL, HOLD, DIAL and LISTEN. It
 * receives BORN, READY, FAILED, STARTED (with the terminal's master if there is one), NOT_STARTED, EXITED,
 * DIALED and LISTENS.
 *
 * SIGNAL goes to the command's first process; INT, QUIT, HUP, WINCH and CONT go to its whole process group.
 * With id 0, STOP and CONT go to everything inside.
 *
 * The gateway's process speaks the same protocol with the keeper, which forwards its START and SIGNAL to the
 * jail and the answers back. It also receives JOB.
 */
#ifndef JAIL_ORDER_H
#define JAIL_ORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/strvec.h"

enum order_type {
	ORDER_START = 1, /* down: id; fds: command, [stdin, stdout, stderr] */
	ORDER_SIGNAL,    /* down: id, value = signal; see above */
	ORDER_BORN,      /* up, from outside the jail: value = pid of the first process, the keeper's child */
	ORDER_READY,     /* up: inside and behind all walls; fd: what the jail gives */
	ORDER_FAILED,    /* up: could not enter; err names the step */
	ORDER_STARTED,   /* up: id; fd: the terminal's master */
	ORDER_NOT_STARTED, /* up: id, value = errno of exec; err says what failed */
	ORDER_EXITED,      /* up: id, value = status as from wait(2) */
	ORDER_DIAL,        /* down: id, value = port on the jail's loopback to connect to */
	ORDER_DIALED,      /* up: id; fd: the connection; else value = errno */
	ORDER_HOLD,        /* down: stops again what STOP with id 0 has stopped, if something woke it */
	ORDER_COPIES,  /* down: interrupts copies for renames (overlay_rename.h); value = 1: continues them */
	ORDER_LISTEN,  /* down: id, value = port on the jail's loopback to listen on */
	ORDER_LISTENS, /* up: id; fds: listening sockets, IPv4 and perhaps IPv6; else value = errno */
	ORDER_JOB,     /* keeper to gateway: value = enum gateway_job, to do after the current work */
};

struct order_msg {
	uint32_t type;
	uint32_t id;
	int32_t value;
	uint32_t pad;
	struct err err; /* with FAILED and NOT_STARTED */
};

/* A command to start, as plain data. */
struct order_cmd {
	bool tty;
	uint16_t rows, cols; /* of the terminal */
	char *cwd;           /* a path inside */
	struct strvec argv;  /* argv[0] is looked up in env's PATH unless it has a slash */
	struct strvec env;   /* complete */
};

#define ORDER_CMD_MAX (4u << 20)

void order_cmd_release(struct order_cmd *c);
#define auto_order_cmd __attribute__((cleanup(order_cmd_release))) struct order_cmd
void order_cmd_pack(const struct order_cmd *c, struct buf *out);
/* Checks the form of the bytes completely. */
int order_cmd_unpack(const char *data, size_t len, struct order_cmd *ret, struct err *e);

#endif
