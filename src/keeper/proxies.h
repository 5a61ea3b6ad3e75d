/*
 * The processes of the proxy (network `allow`) and of forwarded ports. The jail makes the listening sockets and
 * gives them out; the keeper forks a process for each when somebody connects (egress/proxy.h).
 */
#ifndef KEEPER_PROXIES_H
#define KEEPER_PROXIES_H

#include <event2/event.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "egress/proxy.h"
#include "jail/order.h"
#include "keeper/keeper.h"

#define NOTES_MAX 16

struct client;
struct keeper;

struct proxy_child {
	struct keeper *k;
	struct proxy proxy;
	struct event *ev[2];
	uint32_t asked; /* the id of the LISTEN that is not answered yet; 0: none */
	pid_t pid;      /* 0: none runs */
};

/* The first is the proxy's own. */
struct proxies {
	struct proxy_child v[1 + KEEPER_FORWARDS_MAX];
	size_t n;
	int notes[2]; /* ours, theirs */
	struct event *notes_ev;
	char *told[NOTES_MAX]; /* each text is passed on once, and no more than so many */
	size_t ntold;
};

void proxies_init(struct keeper *k);
/* Orders the forwarded ports: before any command is started. */
void proxies_order(struct keeper *k);
/* Takes the jail's socket, if it is one. */
void proxies_open(struct keeper *k, int *fd);
/* Forwards one more port, or finds it forwarded: the client is told when the inside listens. */
void proxies_forward(struct client *c, uint16_t port);
/* The inside's answer to a LISTEN. What is taken of fds is -1 afterwards. */
void proxies_listens(struct keeper *k, const struct order_msg *m, int *fds, size_t nfds);
/* A process has ended, perhaps one of these. */
void proxies_ended(struct keeper *k, pid_t pid);
void proxies_stop(struct keeper *k);

#endif
