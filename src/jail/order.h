/*
 * What the keeper and the first process of a jail say to each other, over one SOCK_SEQPACKET socketpair.
 *
 * The first process (pid 1 inside) enters the jail, says READY or FAILED, and then starts commands for the
 * keeper: each is its child, behind the same walls. It is trusted no more than the commands are, so what it
 * says is a claim: the keeper checks ids and ranges and survives any answer.
 *
 * A message is one struct order_msg. Down come START (with descriptors: the packed command first, then stdin,
 * stdout and stderr unless the command wants a terminal), SIGNAL, DIAL and LISTEN; up come BORN, READY,
 * FAILED, STARTED (with the terminal's master where there is one), NOT_STARTED, EXITED, DIALED and LISTENS.
 *
 * The gateway's process speaks the same protocol with the keeper, which passes its START and SIGNAL on to the
 * jail and the answers back. It gets one message more: JOB.
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
	ORDER_SIGNAL,    /* down: id, value = signal; INT, QUIT, HUP and WINCH go to the whole process group;
			    with    id 0, STOP and CONT go to everything inside */
	ORDER_BORN, /* up, from outside the jail: value = pid of the first process, a child of the keeper's */
	ORDER_READY,       /* up: inside, all walls stand; fd: what the jail gives */
	ORDER_FAILED,      /* up: could not enter; err tells the step */
	ORDER_STARTED,     /* up: id; fd: the terminal's master */
	ORDER_NOT_STARTED, /* up: id, value = errno of exec; err tells what could not be done */
	ORDER_EXITED,      /* up: id, value = status as from wait(2) */
	ORDER_DIAL,        /* down: id, value = port on the jail's own loopback */
	ORDER_DIALED,      /* up: id; fd: the connection; else value = errno */
	ORDER_HOLD,        /* down: what STOP with id 0 has stopped is stopped again, if something woke it */
	ORDER_LISTEN,      /* down: id, value = port on the jail's own loopback */
	ORDER_LISTENS,     /* up: id; fds: sockets that listen there, of IPv4 and perhaps IPv6; else value =
			      errno */
	ORDER_JOB,         /* from the keeper to the gateway's process: value = enum gateway_job, to be done
			      when it is done with what it has at hand */
};

struct order_msg {
	uint32_t type;
	uint32_t id;
	int32_t value;
	uint32_t pad;
	struct err err; /* with FAILED and NOT_STARTED */
};

/* One command, as plain data. */
struct order_cmd {
	bool tty;
	uint16_t rows, cols; /* of the terminal */
	char *cwd;           /* inside */
	struct strvec argv;  /* argv[0] is looked up in PATH of env unless it has a slash */
	struct strvec env;   /* complete */
};

#define ORDER_CMD_MAX (4u << 20)

void order_cmd_release(struct order_cmd *c);
#define auto_order_cmd __attribute__((cleanup(order_cmd_release))) struct order_cmd
void order_cmd_pack(const struct order_cmd *c, struct buf *out);
/* Takes nothing on trust about the bytes' form. */
int order_cmd_unpack(const char *data, size_t len, struct order_cmd *ret, struct err *e);

#endif
