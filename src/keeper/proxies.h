/*
 * The proxy (network `allow`) and forwarded ports. The jail makes the listening sockets and passes them to
 * the keeper, which forks a process for each when somebody connects (egress/proxy.h).
 */
#ifndef KEEPER_PROXIES_H
#define KEEPER_PROXIES_H

#include <event2/event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "egress/proxy.h"
#include "jail/order.h"
#include "keeper/keeper.h"

/* Of how many refused hosts clients are told; then they are told that there are more. */
#define REFUSED_MAX 10

struct client;
struct keeper;

struct proxy_child {
	struct keeper *k;
	struct proxy proxy;
	struct event *ev[2];
	uint32_t asked; /* the id of the LISTEN that is not answered yet; 0: none */
	pid_t pid;      /* 0: none runs */
};

/* v[0] is the proxy, the others are forwarded ports. */
struct proxies {
	struct proxy_child v[1 + KEEPER_FORWARDS_MAX];
	size_t n;
	int notes[2]; /* our end, the processes' end */
	struct event *notes_ev;
	char *refused[REFUSED_MAX]; /* the hosts, each by the entry that would allow it */
	size_t nrefused;
};

/* Whether a descriptor that the inside sent is a listening socket of the Internet's kind. */
bool proxies_is_listening(int fd);

void proxies_init(struct keeper *k);
/* Orders the forwarded ports. Called before any command is started. */
void proxies_order(struct keeper *k);
/* Takes the proxy's socket from the jail, if it is a listening socket. */
void proxies_open(struct keeper *k, int *fd);
/* Forwards one more port, or finds it forwarded already. The client is told when the jail listens. */
void proxies_forward(struct client *c, uint16_t port);
/* The jail's answer to a LISTEN. Descriptors that are taken become -1 in fds. */
void proxies_listens(struct keeper *k, const struct order_msg *m, int *fds, size_t nfds);
/* A child has ended; perhaps it is one of these. */
void proxies_ended(struct keeper *k, pid_t pid);
void proxies_stop(struct keeper *k);
/* Tells clients of the refusals up to now: each client once of each host. Called before a command's end is
 * reported. */
void proxies_tell(struct keeper *k);

#endif
