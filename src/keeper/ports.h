/*
 * Opens ports of the jail's loopback on the host's loopback (J11). The keeper accepts a connection, asks the
 * jail to connect inside, and forks a process that copies the bytes (egress/relay.h).
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
	int fd; /* listening */
	struct event *ev;
};

/* One connection: first the jail is asked for its other end, then a process copies the bytes. */
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

/* Listens. May be called before the keeper is forked or in it. */
int ports_listen(uint16_t inside, struct port *ret, struct err *e);
void ports_start(struct keeper *k);
/* Opens one more port, or finds it open already. */
int ports_open(struct keeper *k, uint16_t inside, uint16_t *ret, struct err *e);
/* The jail's answer to a DIAL. The caller closes fd. */
void ports_dialed(struct keeper *k, const struct order_msg *m, int fd);
/* A child has ended; perhaps it is one that copied a connection. */
void ports_ended(struct keeper *k, pid_t pid);
void ports_stop(struct keeper *k);

#endif
