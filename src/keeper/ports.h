/*
 * Ports of the inside's loopback that are reached by a port of the host's (J11): the keeper accepts, asks the jail
 * for the other end, and a process carries the bytes (egress/relay.h).
 */
#ifndef KEEPER_PORTS_H
#define KEEPER_PORTS_H

#include <event2/event.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "jail/order.h"
#include "keeper/keeper.h"

#define DIALS_MAX 64

struct keeper;

struct port {
	struct keeper *k;
	uint16_t inside, outside;
	int fd; /* listens */
	struct event *ev;
};

/* A connection to one: asked for, then carried by a process. */
struct dial {
	uint32_t id;
	int client;
	pid_t pid;
};

struct ports {
	struct port v[KEEPER_PORTS_MAX];
	size_t n;
	struct dial dials[DIALS_MAX];
};

/* Listens; before the fork or after it. */
int ports_listen(uint16_t inside, struct port *ret, struct err *e);
void ports_start(struct keeper *k);
/* Opens one more port, or finds it open. */
int ports_open(struct keeper *k, uint16_t inside, uint16_t *ret, struct err *e);
/* The inside's answer to a DIAL. fd stays the caller's. */
void ports_dialed(struct keeper *k, const struct order_msg *m, int fd);
/* A process has ended, perhaps one that carried a connection. */
void ports_ended(struct keeper *k, pid_t pid);
void ports_stop(struct keeper *k);

#endif
